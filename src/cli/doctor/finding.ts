import { EnvironmentError, UsageError } from '../../base/errors.ts'
import { inTime } from '../../core/queue/queue.ts'

/** The result of one check of `doctor`. */
export interface Finding {
  readonly check: string
  /** With `warn` runs still work; `fail` prevents them. */
  readonly state: 'ok' | 'warn' | 'fail'
  readonly found: string
  /** What to do; absent for `ok`. */
  readonly fix?: string
}

export function ok(check: string, found: string): Finding {
  return { check, state: 'ok', found }
}

export function warn(check: string, found: string, fix: string): Finding {
  return { check, state: 'warn', found, fix }
}

export function fail(check: string, found: string, fix: string): Finding {
  return { check, state: 'fail', found, fix }
}

/** A finding of an error. The message of an error of collab-sync is the problem, then the fix. */
export function broken(check: string, error: unknown): Finding {
  if (error instanceof Error && error.name === 'TimeoutError')
    return fail(
      check,
      'no complete response in time',
      'check its address, the firewall and the load of the server',
    )
  const message = error instanceof Error ? error.message : String(error)
  if (!(error instanceof EnvironmentError || error instanceof UsageError))
    return fail(check, `it failed: ${message}`, 'fix what the message names')
  const [found = '', ...fix] = message.split(/(?<=\.) (?=[A-Z])/)
  return fail(check, found, fix.join(' ') || 'fix that first')
}

/** Runs one check. An error is a finding, so that the other checks continue. @param patienceMs time limit */
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
