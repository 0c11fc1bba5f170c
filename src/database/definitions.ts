import { UsageError } from '../errors.ts'
import { codeOf } from './pool.ts'
import type { Database } from './pool.ts'
import type { On } from './statement.ts'
import * as statements from './statements/definitions.ts'

/** What words mean in reports: of the settings, and in the one row of the database that everything is reported by. */
export interface Definitions {
  readonly freshnessPromiseMs: number
  /** The member of a comment that says when it was written; left out where none does. */
  readonly commentWrittenMember?: string | undefined
  /** Time zone of the days and weeks of reports; UTC when left out. */
  readonly reportTimeZone?: string | undefined
}

const INVALID_PARAMETER_VALUE = '22023'

/** @throws UsageError for a time zone that PostgreSQL does not know */
export async function requireTimeZone(
  on: On,
  { reportTimeZone = 'UTC' }: Definitions,
): Promise<void> {
  await statements.timeOfZone.one(on, { timeZone: reportTimeZone }).catch((error: unknown) => {
    if (codeOf(error) !== INVALID_PARAMETER_VALUE) throw error
    throw new UsageError(
      `REPORT_TZ is ${reportTimeZone}, a time zone that this PostgreSQL does not know: nothing was changed. Example: REPORT_TZ=Europe/Berlin`,
    )
  })
}

/** Takes the definitions of the settings over, for `migrate`. */
export async function setDefinitions(on: On, ours: Definitions): Promise<void> {
  const { freshnessPromiseMs, commentWrittenMember = null, reportTimeZone = 'UTC' } = ours
  await statements.set.run(on, {
    freshnessPromiseS: freshnessPromiseMs / 1000,
    writtenMember: commentWrittenMember,
    reportTimeZone,
  })
}

/**
 * Looks whether the settings of this process define what the database reports by.
 * @throws UsageError that names the setting and both values
 */
export async function requireDefinitions(database: Database, ours: Definitions): Promise<void> {
  const { freshnessPromiseS, writtenMember, reportTimeZone } = await statements.read.one(database)
  requireSame(
    'FRESHNESS_PROMISE',
    inUnits(ours.freshnessPromiseMs),
    inUnits(freshnessPromiseS * 1000),
  )
  requireSame('COMMENT_WRITTEN_MEMBER', ours.commentWrittenMember ?? null, writtenMember)
  requireSame('REPORT_TZ', ours.reportTimeZone ?? 'UTC', reportTimeZone)
}

function requireSame(name: string, ours: string | null, stored: string | null): void {
  if (ours === stored) return
  const mend = stored === null ? 'Leave it out' : `Set it to ${stored}`
  throw new UsageError(
    `${name} is ${ours ?? 'not set'} in the settings of this process and ${stored ?? 'not set'} in the database, by which everybody reports. ${mend} here, or run \`collab-sync migrate\` with what is to hold everywhere.`,
  )
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
] as const

/** A length of time as the setting is written. */
function inUnits(ms: number): string {
  const [unit, unitMs] = UNITS.find(([, each]) => ms % each === 0) ?? ['s', 1000]
  return `${ms / unitMs}${unit}`
}
