import { EnvironmentError, UsageError } from '../../errors.ts'

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

/** What such an error says is both what is wrong and what mends it. */
export function broken(check: string, error: unknown): Finding {
  if (!(error instanceof EnvironmentError || error instanceof UsageError)) throw error
  const [found = '', ...mend] = error.message.split(/(?<=\.) (?=[A-Z])/)
  return fail(check, found, mend.join(' ') || 'mend that first')
}
