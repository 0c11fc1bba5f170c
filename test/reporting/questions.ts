/** One question that is asked in practice, by whom, and the query that answers it. */
export interface Question {
  readonly by: 'customer success' | 'product' | 'security' | 'data engineering'
  readonly question: string
  readonly sql: string
}

/** The demo's world has `now` at 2025-11-03 12:00 UTC; in real life put `now()` where that day stands. */
export const questions: readonly Question[] = [
  {
    by: 'customer success',
    question: 'Which customers wrote most in the last 30 days?',
    sql: `select organization_id, sum(comments) as comments, count(*) as days_with_comments
from reporting.comment_activity_daily
where day > date '2025-11-03' - 30
group by organization_id
order by comments desc, organization_id
limit 5`,
  },
  {
    by: 'customer success',
    question:
      'Which customers went quiet: fewer comments in the last 30 days than in the 30 before?',
    sql: `select organization_id, before, lately
from (
  select organization_id, coalesce(sum(comments) filter (where day <= date '2025-11-03' - 30), 0) as before,
    coalesce(sum(comments) filter (where day > date '2025-11-03' - 30), 0) as lately
  from reporting.comment_activity_daily
  where day > date '2025-11-03' - 60
  group by organization_id
) months
where lately < before
order by before - lately desc, organization_id
limit 5`,
  },
  {
    by: 'customer success',
    question: 'Which threads of one customer were never answered by somebody else?',
    sql: `select document_id, annotation_id, comments, first_comment_at
from reporting.thread_summary
where organization_id = 'org-0' and comments > 0 and first_answer_at is null
order by first_comment_at desc, document_id, annotation_id
limit 5`,
  },
  {
    by: 'customer success',
    question: 'How long does it take until somebody answers, by customer?',
    sql: `select organization_id, count(*) as answered_threads,
  round(percentile_cont(0.5) within group (order by hours_to_first_answer)::numeric, 1) as median_hours
from reporting.thread_summary
where hours_to_first_answer is not null
group by organization_id
order by median_hours desc, organization_id
limit 5`,
  },
  {
    by: 'customer success',
    question: 'Who are the most active people of a customer?',
    sql: `select author_user_id, author_name, sum(comments) as comments
from reporting.author_activity
where organization_id = 'org-0'
group by author_user_id, author_name
order by comments desc, author_user_id
limit 5`,
  },
  {
    by: 'product',
    question: 'How many people comment each week?',
    sql: `select week, count(distinct (organization_id, author_user_id)) as authors, sum(comments) as comments
from reporting.author_activity
group by week
order by week desc
limit 5`,
  },
  {
    by: 'product',
    question: 'Which documents are discussed by the largest part of their members?',
    sql: `select organization_id, document_id, members, members_who_comment, comments
from reporting.document_engagement
where members >= 5
order by members_who_comment::numeric / members desc, comments desc, organization_id, document_id
limit 5`,
  },
  {
    by: 'product',
    question: 'How many documents have no comment at all?',
    sql: `select count(*) as documents, count(*) filter (where comments = 0) as without_comments,
  count(*) filter (where people = 1) as one_person_only
from reporting.document_engagement`,
  },
  {
    by: 'product',
    question: 'How deep are discussions?',
    sql: `select case when comments = 0 then 'none' when comments = 1 then '1' when comments <= 5 then '2 to 5'
    when comments <= 10 then '6 to 10' else 'more' end as comments, count(*) as threads, max(people) as most_people
from reporting.thread_summary
group by 1
order by min(thread_summary.comments)`,
  },
  {
    by: 'product',
    question: 'Which statuses and types are there, and how common is each?',
    sql: `select field, value, sum(comments) as comments
from reporting.observed_values
group by field, value
order by field, comments desc, value`,
  },
  {
    by: 'product',
    question: 'From which status to which do comments go?',
    sql: `select from_status, to_status, sum(transitions) as transitions
from reporting.status_transitions
group by from_status, to_status
order by transitions desc, from_status, to_status`,
  },
  {
    by: 'product',
    question: 'Where do people ask for a total (in any language, here Chinese)?',
    sql: `select organization_id, count(*) as comments
from reporting.search_comments('合计', max_results => 1000)
group by organization_id
order by comments desc, organization_id
limit 5`,
  },
  {
    by: 'security',
    question: 'Which comments were deleted, and what did they say?',
    sql: `select organization_id, document_id, comment_id, author_user_id, left(comment_text, 30) as said
from reporting.comments_with_deleted
where is_deleted
order by organization_id, document_id, annotation_id, comment_id
limit 5`,
  },
  {
    by: 'security',
    question: 'Whose comments were changed after they were written?',
    sql: `select organization_id, author_user_id, count(*) as changes,
  count(*) filter (where change = 'deleted') as deletions
from reporting.edits_and_deletions
group by organization_id, author_user_id
order by changes desc, organization_id, author_user_id
limit 5`,
  },
  {
    by: 'security',
    question: 'Who is in documents without being in the organization (guests)?',
    sql: `select organization_id, count(*) as guests, sum(documents) as places
from reporting.user_directory
where not listed and left_at is null and documents > 0
group by organization_id
order by guests desc, organization_id
limit 5`,
  },
  {
    by: 'security',
    question: 'Who left an organization, and are they still anywhere?',
    sql: `select organization_id, user_id, name, documents, user_groups
from reporting.user_directory
where left_at is not null
order by organization_id, user_id`,
  },
  {
    by: 'security',
    question: 'Who can see a document?',
    sql: `select user_id, name, email
from reporting.memberships
where organization_id = 'org-0' and document_id = 'doc-0' and until is null
order by user_id
limit 5`,
  },
  {
    by: 'data engineering',
    question: 'Is everything fresh enough to load?',
    sql: `select level, sum(known) as known, sum(fresh) as fresh, sum(stale) as stale, sum(never_synced) as never_synced,
  sum(failing) as failing, sum(held) as held
from reporting.coverage
group by level
order by known`,
  },
  {
    by: 'data engineering',
    question: 'Do the daily numbers add up to the comments?',
    sql: `select (select sum(comments) from reporting.comment_activity_daily) as by_day,
  (select sum(comments) from reporting.author_activity) as by_author,
  (select sum(comments) from reporting.thread_summary) as by_thread,
  (select count(*) from reporting.comments) as comments`,
  },
  {
    by: 'data engineering',
    question: 'What has to be loaded again after the second run?',
    sql: `select count(*) as comments, count(*) filter (where is_deleted) as deleted
from reporting.comments_with_deleted
where changed_at > (select min(finished_at) from sync.runs)`,
  },
]
