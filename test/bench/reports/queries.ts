/** One query that analysts could ask, and how many milliseconds it may take. */
export interface ReportQuery {
  readonly name: string
  readonly sql: string
  readonly limitMs: number
}

const NARROWED_LIMIT_MS = 300
const EVERYTHING_LIMIT_MS = 5000

/** A customer of middling size, and the month. Every column that costs something to count is summed. */
const ORGANIZATION = `organization_id = 'org-200'`
const MONTH = `>= '2026-03-01Z'`
const MONTH_END = `< '2026-04-01Z'`

const VIEWS: readonly (readonly [view: string, sums: string, time: string | null])[] = [
  ['comments', 'count(author_name), max(comment_text)', 'last_updated'],
  ['comments_with_deleted', 'count(author_name), max(comment_text)', 'last_updated'],
  ['comment_activity_daily', 'sum(comments), sum(authors), sum(annotations)', 'day'],
  ['author_activity', 'sum(comments), sum(annotations), count(author_name)', 'week'],
  ['thread_summary', 'sum(comments), sum(people), avg(hours_to_first_answer)', 'last_comment_at'],
  ['document_engagement', 'sum(comments), sum(people), sum(members_who_comment)', null],
  [
    'user_directory',
    'sum(documents), sum(user_groups), count(document_ids), count(removal_held_since)',
    null,
  ],
  ['memberships', 'count(name), count(removal_held_since)', 'since'],
  ['comment_history', 'count(author_name), max(comment_text)', 'valid_from'],
  ['edits_and_deletions', 'sum(hours_since_previous), count(author_name)', 'noticed_at'],
  ['status_transitions', 'sum(transitions), avg(median_hours)', null],
  ['observed_values', 'sum(comments), sum(versions), min(first_seen_at)', null],
  ['change_delay_daily', 'sum(changes), max(p95_seconds)', 'day'],
  ['freshness', 'min(checked_at), max(age)', 'checked_at'],
  ['coverage', 'sum(known), sum(fresh), sum(failing), sum(held)', null],
]

/** Every view of `reporting` narrowed to an organization, narrowed to a month where it has a time, and whole. */
export const reportQueries: readonly ReportQuery[] = [
  ...VIEWS.flatMap(([view, sums, time]) => [
    query(`${view}, organization`, `${view} where ${ORGANIZATION}`, sums, NARROWED_LIMIT_MS),
    ...(time === null
      ? []
      : [
          query(
            `${view}, month`,
            `${view} where ${time} ${MONTH} and ${time} ${MONTH_END}`,
            sums,
            NARROWED_LIMIT_MS,
          ),
        ]),
    query(`${view}, everything`, view, sums, EVERYTHING_LIMIT_MS),
  ]),
  query(
    'comments_at, organization',
    `comments_at('2026-03-01Z') where ${ORGANIZATION}`,
    'max(comment_text)',
    NARROWED_LIMIT_MS,
  ),
  query(
    'comments_at, everything',
    `comments_at('2026-03-01Z')`,
    'max(comment_text)',
    EVERYTHING_LIMIT_MS,
  ),
]

function query(name: string, from: string, sums: string, limitMs: number): ReportQuery {
  return { name, sql: `select count(*), ${sums} from reporting.${from}`, limitMs }
}
