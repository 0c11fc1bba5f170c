import { EnvironmentError, UsageError } from '../../base/errors.ts'
import { inTime } from '../../core/queue/queue.ts'

/** What `doctor` found of one thing it looked at. */
export interface Finding {
  readonly check: string
  /** `warn` works, but not for long or not well; `fail` stops a run. */
  readonly state: 'ok' | 'warn' | 'fail'
  readonly found: string
  /** What mends it; absent where nothing is to be mended. */
  readonly mend?: string
}

export function ok(check: string, found: string): Finding {
  return { check, state: 'ok', found }
}

export function warn(check: string, found: string, mend: string): Finding {
  return { check, state: 'warn', found, mend }
}

export function fail(check: string, found: string, mend: string): Finding {
  return { check, state: 'fail', found, mend }
}

/** What an error says; of one of ours that is both what is wrong and what mends it. */
export function broken(check: string, error: unknown): Finding {
  if (error instanceof Error && error.name === 'TimeoutError')
    return fail(
      check,
      'no full answer in time',
      'is its address right, does a firewall allow it, and is the server busy?',
    )
  const message = error instanceof Error ? error.message : String(error)
  if (!(error instanceof EnvironmentError || error instanceof UsageError))
    return fail(check, `it failed: ${message}`, 'fix what the message names')
  const [found = '', ...mend] = message.split(/(?<=\.) (?=[A-Z])/)
  return fail(check, found, mend.join(' ') || 'fix that first')
}

/** Does one check; whatever becomes of it is a finding, and the other checks go on. @param patienceMs how long it may take */
export async function guarded(
  check: string,
  patienceMs: number,
  work: () => Promise<Finding | Finding[]>,
): Promise<Finding[]> {
  try {
    return [await inTime(work(), patienceMs)].flat()
  } catch (error) {
    return [broken(check, error)]
  }
}
