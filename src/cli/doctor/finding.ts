import { EnvironmentError, UsageError } from '../../base/errors.ts'
import { codeOf, isConnectionLost } from '../../core/database/connection-errors.ts'
import { inTime } from '../../core/queue/queue.ts'
import { duration } from '../../schemas/format.ts'

/** The result of one check of `doctor`. */
export interface Finding {
  readonly check: string
  /**
   * With `warn` runs still work; `fail` prevents them. `next` is a first step that was not done yet, and `skip` a check that
   * is not made.
   */
  readonly state: 'ok' | 'warn' | 'fail' | 'next' | 'skip'
  readonly found: string
  /** What to do; absent for `ok` and `skip`. For `next` it is a command. */
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

/** A first step that was not done yet. @param command that does it */
export function next(check: string, found: string, command: string): Finding {
  return { check, state: 'next', found, fix: command }
}

/** A check that is not made. @param why its own settings are wrong, if omitted */
export function skip(check: string, why = 'its settings are wrong'): Finding {
  return { check, state: 'skip', found: `not checked, because ${why}` }
}

/** Time limit of a check of PostgreSQL or Redis. */
export const PATIENCE_MS = 2_500

/**
 * A finding of an error. The message of an error of collab-sync is the problem, then the fix.
 * @param place of a server that does not respond, unless the error names it
 */
export function broken(check: string, error: unknown, place = '', limitMs = PATIENCE_MS): Finding {
  const message = error instanceof Error ? error.message : String(error)
  if (isAway(error)) {
    const problem = isLate(error)
      ? `no response within ${duration(limitMs)}`
      : `the connection was lost (${message})`
    return fail(check, [place, problem].filter(Boolean).join(': '), AWAY_FIX)
  }
  if (!(error instanceof EnvironmentError || error instanceof UsageError))
    return fail(check, message, FIXES[codeOf(error) ?? ''] ?? UNKNOWN_FIX)
  const [found = '', ...fix] = message.split(/(?<=\.) (?=[A-Z])/)
  return fail(check, found, fix.join(' ') || 'fix that first')
}

const AWAY_FIX =
  'try again in a moment; if it stays, check the address, the firewall, and the load and the locks of the server'
const UNKNOWN_FIX =
  'try again; if it stays, report it as a bug of collab-sync, with the log of that server'

/** What to do about errors of PostgreSQL, by SQLSTATE. */
const FIXES: Record<string, string> = {
  '25006': 'set DATABASE_URL to the primary, or turn off default_transaction_read_only',
  '42501': 'use the role that ran collab-sync migrate',
  '53100': 'free disk space on the server of PostgreSQL',
}

/** Whether a server did not respond, or closed the connection. */
export function isAway(error: unknown): boolean {
  return isLate(error) || (!(error instanceof EnvironmentError) && isConnectionLost(error))
}

/** Whether a time limit ended the work. A connection that it broke reports "The operation was aborted". */
function isLate(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  // ioredis has no name for it.
  const isTimeout = error.message === 'Command timed out'
  return isTimeout || /^(Abort|Timeout)Error$/.test(error.name) || isLate(error.cause)
}

/** Runs one check. An error is a finding, so that the other checks continue. */
export async function guarded(
  check: string,
  work: () => Promise<Finding | Finding[]>,
  limitMs = PATIENCE_MS,
): Promise<Finding[]> {
  try {
    return [await inTime(work(), limitMs)].flat()
  } catch (error) {
    return [broken(check, error, '', limitMs)]
  }
}
