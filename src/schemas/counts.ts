/**
 * The counts of a run, with their descriptions. Each is a column of `sync.runs` and `sync.run_items`; `npm run generate` writes
 * their lists in `sql/queries`. Add new ones at the end. The name of a count of rows ends in `Written`,
 * `Deleted` or `Removed`: lists of runs, metrics and `run --dry-run` follow these names.
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
  recordsRejected: 'Records that were not stored.',
  recordsNull: 'Nulls in responses to requests by ID.',
  organizationsDone: '',
  documentsDone: '',
  groupsDone: '',
  annotationsDone: '',
  usersWritten: 'Inserted or updated rows of users, including removed users.',
  usersRemoved: 'Users removed from their organization.',
  membersRemoved: 'Memberships of documents and user groups that ended.',
  commentsWritten: '',
  commentsDeleted: '',
  rejected: 'Rejected records, and rejected fields of stored records.',
  serviceMs: 'Waiting for the service, summed over parallel calls.',
  waitedMs: 'Waiting for the rate limit (`SYNC_RATE_LIMIT`), summed in the same way.',
  waitedThrottledMs: 'Waiting because the service throttled calls, summed in the same way.',
  databaseMs: 'Waiting for PostgreSQL, summed over parallel batches.',
  cpuMs: 'CPU time of the processes that executed it.',
} as const

type Count = keyof typeof COUNTS

/** Counts of rows, by what became of the rows: `commentsWritten`. Those that were removed may be among those written. */
export const WRITTEN_COUNTS = countsEnding('Written')
export const DELETED_COUNTS = countsEnding('Deleted')
export const REMOVED_COUNTS = countsEnding('Removed')

function countsEnding<Outcome extends string>(outcome: Outcome) {
  type Ending = Extract<Count, `${string}${Outcome}`>
  return (Object.keys(COUNTS) as Count[]).filter((name): name is Ending => name.endsWith(outcome))
}

/** The sum of some counts. */
export function sumOf<Name extends string>(
  counts: Readonly<Record<Name, number>>,
  names: readonly Name[],
): number {
  return names.reduce((sum, name) => sum + counts[name], 0)
}

/** The counts of a run by subject, with their words and members. */
export const RUN_COUNTS = {
  scopes: [
    ['succeeded', 'scopesSucceeded'],
    ['failed', 'scopesFailed'],
    ['held', 'scopesHeld'],
    ['not requested', 'scopesSkipped'],
  ],
  checked: [
    ['organization(s)', 'organizationsDone'],
    ['document(s)', 'documentsDone'],
    ['user group(s)', 'groupsDone'],
    ['annotation(s)', 'annotationsDone'],
  ],
  calls: [
    ['sent', 'calls'],
    ['retried', 'retries'],
  ],
  comments: [
    ['stored', 'commentsWritten'],
    ['found deleted', 'commentsDeleted'],
  ],
  users: [
    ['stored', 'usersWritten'],
    ['removed', 'usersRemoved'],
    ['membership(s) ended', 'membersRemoved'],
  ],
  records: [
    ['received', 'recordsReceived'],
    ['new', 'recordsInserted'],
    ['changed', 'recordsUpdated'],
    ['unchanged', 'recordsUnchanged'],
    ['returned as null', 'recordsNull'],
    ['rejected', 'recordsRejected'],
    ['field(s) of stored records rejected', 'fieldsRejected'],
  ],
} as const

export type RunCounts = typeof RUN_COUNTS
/** The members of the counts of a subject. */
export type CountsOf<Subject extends keyof RunCounts> = RunCounts[Subject][number][1]

export const RUN_SUBJECTS = Object.keys(RUN_COUNTS) as readonly (keyof RunCounts)[]

/** The kinds of records that a run stores. */
export const STORED_SUBJECTS = RUN_SUBJECTS.filter((subject) =>
  RUN_COUNTS[subject].some(([, member]) => member.endsWith('Written')),
)

/** The times of a run. They are sums over parallel calls and batches, so that they can exceed its duration. */
export const RUN_TIMES = [
  ['waiting for the service', 'serviceMs'],
  ['waiting for the rate limit', 'waitedMs'],
  ['throttled by the service', 'waitedThrottledMs'],
  ['waiting for PostgreSQL', 'databaseMs'],
  ['CPU', 'cpuMs'],
] as const

export const SHOWN_COUNTS: Readonly<Record<Count, string>> = COUNTS

const NAMES = [...(Object.keys(COUNTS) as Count[]), 'recordsLost'] as const
/** Counted when a run is planned or skipped. */
type PlanCount = 'scopesPlanned' | 'scopesSkipped'

/** The counts that a commit adds to its item. */
export type Counts = Record<Exclude<(typeof NAMES)[number], PlanCount>, number>

export const COMMIT_COUNTS = NAMES.filter((name) => !/^scopes(Planned|Skipped)$/.test(name))
/** The counts that a run sums over its items. Calls, and their waits while they last, are counted per run. */
export const ITEM_COUNTS = NAMES.filter(
  (name) => !['calls', 'retries', 'waitedThrottledMs'].includes(name),
)

export function noCounts(): Counts {
  return Object.fromEntries(COMMIT_COUNTS.map((name) => [name, 0])) as Counts
}
