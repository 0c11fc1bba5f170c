/**
 * Every table of `collab_store` and `sync`. A table that a migration adds needs a line here: `tables.pg.test.ts` names it, and
 * compares these lines with prune and erasure; `plans.pg.test.ts` fills the large tables and reads the plans of statements on them.
 */
interface TableFacts {
  /** It has a row for each scope, user, record or change, or more. */
  readonly isLarge?: true
  /** `pruned`, or why the number of its rows does not grow with runs. */
  readonly rows: string
  /**
   * Of a table of `collab_store` with texts: `identity` if an erasure learns the person's names and addresses from it, or why it
   * has none that another table lacks.
   */
  readonly people?: string
}

const CATALOG = 'A row of the catalog.'
const CURRENT = 'A row of now.'
const ONE = 'One row.'
const PROCESSES = 'A row of a process; those of dead ones are deleted.'
const DECISION = 'A row that a user made.'
const WAITS = 'Deleted when its work is done.'
const THING = 'The name of a thing, which the catalog gives.'
const IDS = 'IDs alone.'

export const TABLES: Readonly<Record<string, TableFacts>> = {
  'collab_store.annotations': { isLarge: true, rows: CATALOG, people: IDS },
  'collab_store.batches': { rows: 'A row for 256 scopes.' },
  'collab_store.changes': { isLarge: true, rows: 'pruned' },
  'collab_store.changes_pruned': { rows: ONE, people: 'The identity of the server.' },
  'collab_store.comment_versions': {
    isLarge: true,
    rows: 'pruned',
    people: 'The author is that of the comment.',
  },
  'collab_store.comments': { isLarge: true, rows: CURRENT, people: 'identity' },
  'collab_store.definitions': { rows: ONE, people: 'Settings.' },
  'collab_store.document_users': { isLarge: true, rows: CURRENT, people: IDS },
  'collab_store.documents': { isLarge: true, rows: CATALOG, people: THING },
  'collab_store.listings': { isLarge: true, rows: CATALOG },
  'collab_store.observed_members': { rows: 'At most 2,000 rows.', people: 'Names of fields.' },
  'collab_store.observed_records': { rows: 'A row for each record of an operation.' },
  'collab_store.organizations': { rows: CATALOG, people: THING },
  'collab_store.past_memberships': { rows: 'pruned', people: IDS },
  'collab_store.recent_threads': { isLarge: true, rows: WAITS },
  'collab_store.user_group_members': { isLarge: true, rows: CURRENT, people: IDS },
  'collab_store.user_groups': { isLarge: true, rows: CATALOG, people: THING },
  'collab_store.user_versions': { isLarge: true, rows: 'pruned', people: 'identity' },
  'collab_store.users': { isLarge: true, rows: CURRENT, people: 'identity' },
  'sync.access_tokens': { rows: DECISION },
  'sync.actions': { rows: 'pruned' },
  'sync.catalog_imports': { rows: 'pruned' },
  'sync.catalog_lacking': { rows: 'Deleted when its import is decided.' },
  'sync.erasures': { rows: DECISION },
  'sync.failures': { isLarge: true, rows: 'pruned' },
  'sync.held': { rows: 'pruned' },
  'sync.hints': { isLarge: true, rows: WAITS },
  'sync.locks': { rows: 'A row for each lock.' },
  'sync.member_changes': { rows: 'A row for each field.' },
  'sync.nightly_due': { rows: 'pruned' },
  'sync.notification_deliveries': { rows: 'Deleted with its notification.' },
  'sync.notification_receivers': { rows: 'A row for each receiver.' },
  'sync.notifications': { rows: 'Deleted after 90 days.' },
  'sync.notify_watch': { rows: ONE },
  'sync.observed_errors': { rows: 'A row for each status of the service.' },
  'sync.pace': { rows: ONE },
  'sync.pauses': { rows: 'pruned' },
  'sync.privacy': { rows: ONE },
  'sync.processes': { rows: PROCESSES },
  'sync.rate_limit_slots': { rows: ONE },
  'sync.refresh_hours': { rows: 'Deleted after 90 days.' },
  'sync.refresh_pages': { rows: WAITS },
  'sync.refresh_passes': { rows: 'A row for each class.' },
  'sync.refresh_state': { rows: ONE },
  'sync.rejected_records': { isLarge: true, rows: 'pruned' },
  'sync.run_items': { isLarge: true, rows: 'pruned' },
  'sync.runs': { rows: 'pruned' },
  'sync.schedule': { rows: ONE },
  'sync.set_aside_records': { rows: DECISION },
}
