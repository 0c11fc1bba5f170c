import { UsageError } from '../../base/errors.ts'
import { readMemberPath, splitPaths } from '../../base/member-path.ts'
import { OPERATION_NAMES } from '../../base/operations.ts'
import type { Operation } from '../../base/operations.ts'
import { codeOf } from './connection-errors.ts'
import type { Database } from './pool.ts'
import type { On } from './statement.ts'
import { RECENT_S } from './scopes.ts'
import type { StoredEmails } from './users.ts'
import * as batches from './statements/batches.ts'
import * as statements from './statements/definitions.ts'
import * as observed from './statements/observed.ts'
import * as refresh from './statements/refresh.ts'

/** Settings that define words of reports. One row of the database has them too, and reports are made by that row. */
export interface Definitions {
  readonly freshnessPromiseMs: number
  /** `SYNC_OPERATIONS`; all when left out. */
  readonly operations?: readonly Operation[] | undefined
  /** The member of a comment that holds when it was written; left out where none does. */
  readonly commentWrittenMember?: string | undefined
  /** Time zone of the days and weeks of reports; UTC when left out. */
  readonly reportTimeZone?: string | undefined
  /** Calls a second of continuous refresh; left out where there is none. */
  readonly refreshBudget?: number | undefined
  /** `PRIVACY_EMAIL`; keep when left out. */
  readonly privacyEmail?: StoredEmails | undefined
  /** `PRIVACY_RAW`; keep when left out. */
  readonly privacyRaw?: 'keep' | 'drop' | undefined
  /** `PRIVACY_EXCLUDE`; left out where there is none. */
  readonly privacyExclude?: string | undefined
  /** An hour when left out. */
  readonly changeTargetMs?: number | undefined
}

const CHANGE_TARGET_MS = 3_600_000
/** More polls are planned than are needed, because some come late. */
const SPARE = 1.09

/** Calls a second that are needed to poll so many scopes within the promise. */
export function leastBudget(scopes: number, promiseS: number): number {
  return (SPARE * scopes) / promiseS
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

/**
 * Writes the definitions of the settings to the database, for `migrate`, in the transaction of the caller. If refresh was off
 * before, finds the threads that changed lately.
 * @returns what changed of what is stored of records
 * @throws UsageError where the budget cannot keep the promise
 */
export async function setDefinitions(on: On, ours: Definitions) {
  const { freshnessPromiseMs, commentWrittenMember = null, reportTimeZone = 'UTC' } = ours
  const { refreshBudget = null, changeTargetMs = CHANGE_TARGET_MS } = ours
  const { privacyEmail = 'keep', privacyRaw = 'keep', privacyExclude = null } = ours
  const { operations = OPERATION_NAMES } = ours
  const before = await statements.read.one(on)
  await statements.set.run(on, {
    freshnessPromiseS: freshnessPromiseMs / 1000,
    writtenMember: commentWrittenMember,
    reportTimeZone,
    refreshBudget,
    changeTargetS: changeTargetMs / 1000,
    privacyEmail,
    privacyRaw,
    privacyExclude,
    operations,
  })
  const isNew =
    before.refreshBudget !== refreshBudget ||
    before.freshnessPromiseS * 1000 !== freshnessPromiseMs ||
    before.operations.join() !== operations.join()
  if (refreshBudget !== null && isNew) {
    const fault = await budgetFault(on, { ...ours, refreshBudget })
    if (fault !== null) throw new UsageError(`${fault} The database keeps its earlier values.`)
    if (before.refreshBudget === null) await refresh.seed.run(on, { recentS: RECENT_S })
  }
  const privacy = [
    { setting: 'PRIVACY_EMAIL', before: before.privacyEmail, now: privacyEmail },
    { setting: 'PRIVACY_RAW', before: before.privacyRaw, now: privacyRaw },
    { setting: 'PRIVACY_EXCLUDE', before: before.privacyExclude, now: privacyExclude },
  ]
  return privacy.filter((each) => each.before !== each.now)
}

/** A setting that changed what is stored of records. */
export type PrivacyChange = Awaited<ReturnType<typeof setDefinitions>>[number]

/** About how many records the next run writes again because PRIVACY_EXCLUDE changed. */
export async function estimateRewritten(on: On, { before, now }: PrivacyChange) {
  const [old, current] = [splitPaths(before ?? ''), splitPaths(now ?? '')]
  const changed = [...old, ...current].filter(
    (path) => !old.includes(path) || !current.includes(path),
  )
  return observed.estimate.all(on, { members: JSON.stringify(changed.map(readMemberPath)) })
}

/** Why the budget cannot keep the promise over the catalog as it is, with both numbers; null where it can. */
export async function budgetFault(
  on: On,
  { freshnessPromiseMs, refreshBudget }: Definitions & { readonly refreshBudget: number },
): Promise<string | null> {
  const { operations } = await statements.read.one(on)
  const { scopes } = await batches.countScopes.one(on, { operations, organizationIds: null })
  const least = leastBudget(scopes, freshnessPromiseMs / 1000)
  if (least <= refreshBudget) return null
  const needed = Math.ceil(least * 1000) / 1000
  return `FRESHNESS_PROMISE=${inUnits(freshnessPromiseMs)} for ${scopes} scopes needs a REFRESH_BUDGET of ${needed} calls a second, and it is ${refreshBudget}.`
}

/**
 * Checks that the settings of this process define what the database reports by.
 * @throws UsageError that names the setting and both values
 */
export async function requireDefinitions(database: Database, ours: Definitions): Promise<void> {
  const stored = await statements.read.one(database)
  const { commentWrittenMember, changeTargetMs = CHANGE_TARGET_MS, reportTimeZone = 'UTC' } = ours
  const { privacyEmail = 'keep', privacyRaw = 'keep', operations = OPERATION_NAMES } = ours
  const settings = [
    [
      'FRESHNESS_PROMISE',
      inUnits(ours.freshnessPromiseMs),
      inUnits(stored.freshnessPromiseS * 1000),
    ],
    ['SYNC_OPERATIONS', operations.join(','), stored.operations.join(',')],
    ['COMMENT_WRITTEN_MEMBER', commentWrittenMember, stored.writtenMember],
    ['REPORT_TZ', reportTimeZone, stored.reportTimeZone],
    ['REFRESH_BUDGET', ours.refreshBudget, stored.refreshBudget],
    ['PRIVACY_EMAIL', privacyEmail, stored.privacyEmail],
    ['PRIVACY_RAW', privacyRaw, stored.privacyRaw],
    ['PRIVACY_EXCLUDE', ours.privacyExclude, stored.privacyExclude],
    ['CHANGE_TARGET', inUnits(changeTargetMs), inUnits(stored.changeTargetS * 1000)],
  ] as const
  for (const [name, here, there] of settings) {
    if ((here ?? null) === there) continue
    const fix = there === null ? 'Leave it out' : `Set it to ${there}`
    throw new UsageError(
      `${name} is ${here ?? 'not set'} in the settings of this process and ${there ?? 'not set'} in the database. All processes must use the same value. ${fix} in this process, or run \`collab-sync migrate\` with the value for all of them.`,
    )
  }
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
