/**
 * What a run counts: the one place that names the counts, with what a run's document says of each. Each is a column of
 * `sync.runs` and `sync.run_items`; `npm run generate` writes the lists of them in `sql/queries`. A new one goes to the end.
 */
const COUNTS = {
  scopesPlanned: '',
  scopesSucceeded: '',
  scopesFailed: '',
  scopesHeld: '',
  scopesSkipped: '',
  calls: 'Calls to the service, retries included.',
  retries: '',
  recordsReceived: '',
  recordsInserted: '',
  recordsUpdated: '',
  recordsUnchanged: '',
  recordsRejected: 'Records of which no row was made.',
  recordsNull: 'Nulls in answers to a question by id.',
  organizationsDone: '',
  documentsDone: '',
  groupsDone: '',
  annotationsDone: '',
  usersWritten: 'Rows of users that were inserted or updated, removed users included.',
  usersRemoved: 'Users removed from their organization.',
  membersRemoved: 'Memberships of documents and user groups that ended.',
  commentsWritten: '',
  commentsDeleted: '',
  rejected: 'Whole records, and members that a stored record had to go without.',
  serviceMs: 'Waiting for the service, added up over calls side by side.',
  waitedMs: 'Waiting for slots of `SYNC_RATE_LIMIT`, added up in the same way.',
  waitedThrottledMs: 'Waiting because the service throttled calls, added up in the same way.',
  databaseMs: 'Waiting for PostgreSQL, added up over batches side by side.',
  cpuMs: 'CPU of the processes that worked it, while they did.',
} as const

/** The counts that a run's document shows, with its words for each. */
export const SHOWN_COUNTS: Readonly<Record<keyof typeof COUNTS, string>> = COUNTS

const NAMES = [...(Object.keys(COUNTS) as (keyof typeof COUNTS)[]), 'recordsLost'] as const
/** What is known when a run is planned or skipped, and by no commit. */
type PlanCount = 'scopesPlanned' | 'scopesSkipped'

/** The counts that a commit adds to its item. */
export type Counts = Record<Exclude<(typeof NAMES)[number], PlanCount>, number>

export const COMMIT_COUNTS = NAMES.filter((name) => !/^scopes(Planned|Skipped)$/.test(name))
/** The counts that a run adds up from its items: those of calls it has of its own. */
export const ITEM_COUNTS = NAMES.filter((name) => name !== 'calls' && name !== 'retries')

export function noCounts(): Counts {
  return Object.fromEntries(COMMIT_COUNTS.map((name) => [name, 0])) as Counts
}
