/** One question that is asked in practice, by whom, and the query that answers it. */
export interface Question {
  readonly by: 'customer success' | 'product' | 'security' | 'data engineering'
  readonly question: string
  readonly sql: string
  /** What the answer does not contain, because the service is checked only from time to time. */
  readonly unseen?: string
}

/** The demo's world has `now` at 2025-11-03 12:00 UTC; on other data write `now()` in its place. */
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
    unseen:
      'Comments that were written and deleted between two checks are not counted. Without `COMMENT_WRITTEN_MEMBER`, a comment that was edited before its first check counts on the day of that edit.',
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
    unseen: 'Comments of either period that have been deleted since are not counted.',
  },
  {
    by: 'customer success',
    question: 'Which threads of one customer did no other user answer?',
    sql: `select document_id, annotation_id, comments, first_comment_at
from reporting.thread_summary
where organization_id = 'org-0' and comments > 0 and first_answer_at is null
order by first_comment_at desc, document_id, annotation_id
limit 5`,
    unseen: 'Answers that have been deleted since are not counted.',
  },
  {
    by: 'customer success',
    question: 'How long does a first answer take, by customer?',
    sql: `select organization_id, count(*) as answered_threads,
  round(percentile_cont(0.5) within group (order by hours_to_first_answer)::numeric, 1) as median_hours
from reporting.thread_summary
where hours_to_first_answer is not null
group by organization_id
order by median_hours desc, organization_id
limit 5`,
    unseen:
      'Answers that have been deleted since are not counted. Without `COMMENT_WRITTEN_MEMBER`, an answer that was edited before its first check seems later than it was.',
  },
  {
    by: 'customer success',
    question: 'Who are the most active users of a customer?',
    sql: `select author_user_id, author_name, sum(comments) as comments
from reporting.author_activity
where organization_id = 'org-0'
group by author_user_id, author_name
order by comments desc, author_user_id
limit 5`,
  },
  {
    by: 'product',
    question: 'How many users comment each week?',
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
    question: 'Which statuses and types exist, and how frequent is each?',
    sql: `select field, value, sum(comments) as comments
from reporting.observed_values
group by field, value
order by field, comments desc, value`,
  },
  {
    by: 'product',
    question: 'Which changes of status are the most frequent?',
    sql: `select from_status, to_status, sum(transitions) as transitions
from reporting.status_transitions
group by from_status, to_status
order by transitions desc, from_status, to_status`,
    unseen:
      'If a status changed twice between two checks, this counts as one transition. Transitions from versions that `prune` removed are not counted.',
  },
  {
    by: 'product',
    question: 'Which customers mention a total in their comments (in any language, here Chinese)?',
    sql: `select organization_id, count(*) as comments
from reporting.comments
where comment_text ilike '%合计%'
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
    unseen:
      'Comments that were written and deleted between two checks are missing. The text is that of the last check.',
  },
  {
    by: 'security',
    question: "Which users' comments were edited or deleted after they were written?",
    sql: `select organization_id, author_user_id, count(*) as changes,
  count(*) filter (where change = 'deleted') as deletions
from reporting.edits_and_deletions
group by organization_id, author_user_id
order by changes desc, organization_id, author_user_id
limit 5`,
    unseen:
      'Several edits between two checks count as one, and edits before the first check are not counted. Versions that `prune` removed are not counted.',
  },
  {
    by: 'security',
    question:
      'Which organizations have guests: users of documents who are not in the organization?',
    sql: `select organization_id, count(*) as guests, sum(documents) as places
from reporting.user_directory
where not listed and left_at is null and documents > 0
group by organization_id
order by guests desc, organization_id
limit 5`,
  },
  {
    by: 'security',
    question: 'Who left an organization, and are they still in its documents or groups?',
    sql: `select organization_id, user_id, name, documents, user_groups,
  case when left_at is not null then 'left' when removal_held_since is not null then 'held' else 'refused' end as removal
from reporting.user_directory
where left_at is not null or removal_held_since is not null or removal_refused_at is not null
order by organization_id, user_id`,
    unseen: 'Users who left and returned between two checks are missing.',
  },
  {
    by: 'security',
    question: 'Who can see a document?',
    sql: `select user_id, name, email, removal_held_since is not null as removal_held,
  removal_refused_at is not null as removal_refused
from reporting.memberships
where organization_id = 'org-0' and document_id = 'doc-0' and until is null
order by user_id
limit 5`,
    unseen:
      'Changes since the last successful check of the document are missing. `checked_at` of `collab.documents` shows its time.',
  },
  {
    by: 'data engineering',
    question: 'Is everything fresh enough to load?',
    sql: `select level, sum(known) as known, sum(fresh) as fresh, sum(stale) as stale, sum(never_synced) as never_synced,
  sum(failing) as failing, sum(held) as held, sum(refused) as refused
from reporting.coverage
group by level
order by known, level`,
    unseen:
      'Fresh means that the last successful check is within `FRESHNESS_PROMISE`. Changes in the service since that check are missing.',
  },
  {
    by: 'data engineering',
    question: 'Do the daily numbers add up to the comments?',
    sql: `select (select coalesce(sum(comments), 0) from reporting.comment_activity_daily) as by_day,
  (select coalesce(sum(comments), 0) from reporting.author_activity) as by_author,
  (select coalesce(sum(comments), 0) from reporting.thread_summary) as by_thread,
  (select count(*) from reporting.comments) as comments`,
  },
  {
    by: 'data engineering',
    question: 'What has to be loaded again after the second run?',
    sql: `select count(*) as comments, count(*) filter (where is_deleted) as deleted
from reporting.comments_with_deleted
where changed_at > (select min(finished_at) from reporting.runs)`,
    unseen:
      'If `prune` removed the first run, the oldest run that is kept takes its place, and changes before it are missing.',
  },
  {
    by: 'product',
    question: 'At which hours of the day, in New York time, do users write?',
    sql: `select extract(hour from written_at at time zone 'America/New_York') as hour, count(*) as comments,
  count(*) filter (where written_at_is_exact) as exact
from reporting.comments
where written_at is not null
group by hour
order by comments desc, hour
limit 5`,
    unseen:
      'If the time of a comment is not exact and it was edited before its first check, it counts at the hour of the edit.',
  },
  {
    by: 'customer success',
    question: 'Within what time are threads answered?',
    sql: `select case when first_answer_at is null then 'not answered' when hours_to_first_answer <= 24 then 'within a day'
    when hours_to_first_answer <= 168 then 'within a week' else 'later' end as answered,
  count(*) as threads, count(*) filter (where is_stale) as may_be_out_of_date
from reporting.thread_summary
where comments > 0 and in_catalog
group by answered
order by threads desc, answered`,
    unseen: 'Answers that have been deleted since are not counted.',
  },
  {
    by: 'customer success',
    question: 'Who gives first answers?',
    sql: `select organization_id, c.author_user_id, count(*) as first_answers
from reporting.thread_summary t
join reporting.comments c using (organization_id, document_id, annotation_id)
where c.written_at = t.first_answer_at
group by organization_id, c.author_user_id
order by first_answers desc, organization_id, c.author_user_id
limit 5`,
  },
  {
    by: 'customer success',
    question: 'Which threads have had no answer for more than a week?',
    sql: `select organization_id, document_id, annotation_id, first_comment_at, is_stale
from reporting.thread_summary
where in_catalog and first_comment_at < date '2025-11-03' - 7 and first_answer_at is null
order by first_comment_at, organization_id, document_id, annotation_id
limit 5`,
    unseen:
      'Answers since the last successful check are missing. If `is_stale` is true, that check is older than `FRESHNESS_PROMISE` or a later one failed.',
  },
  {
    by: 'customer success',
    question: 'How many users of each customer wrote nothing in the last four weeks?',
    sql: `select u.organization_id, count(*) as people, count(*) filter (where not exists (
    select from reporting.author_activity a
    where a.organization_id = u.organization_id and a.author_user_id = u.user_id and a.week > date '2025-11-03' - 28
  )) as silent
from reporting.user_directory u
where u.listed
group by u.organization_id
order by silent desc, u.organization_id
limit 5`,
    unseen:
      'Users count as silent if all their comments have been deleted since, or are in documents that are not in the catalog.',
  },
  {
    by: 'data engineering',
    question: 'Which numbers may be out of date, and since when?',
    sql: `select level, count(*) as scopes, count(*) filter (where is_stale) as may_be_out_of_date,
  count(*) filter (where is_stale and checked_at is null) as never_checked,
  min(checked_at) filter (where is_stale) as oldest_check, min(failing_since) as failing_since
from reporting.freshness
group by level
order by level`,
  },
  {
    by: 'data engineering',
    question: 'How much of a total may be out of date, or is no longer checked?',
    sql: `select organization_id, sum(comments) as comments, sum(comments_not_in_catalog) as no_longer_checked,
  max(stale_annotations) as threads_out_of_date, bool_or(is_stale) as may_be_out_of_date
from reporting.comment_activity_daily
where day > date '2025-11-03' - 30
group by organization_id
order by comments desc, organization_id
limit 5`,
  },
  {
    by: 'security',
    question: 'Who was renamed, and what was the name before?',
    sql: `select organization_id, user_id, b.name as before, v.name as after
from collab.user_versions v
join collab.user_versions b using (organization_id, user_id)
where b.version = v.version - 1 and b.name is distinct from v.name
order by organization_id, user_id, v.version desc
limit 5`,
    unseen:
      'Names that a user had only between two checks or before the first check are missing, as are names that `prune` or `erase` removed.',
  },
  {
    by: 'security',
    question: 'Who joined, left or was renamed since the first run?',
    sql: `select organization_id, n.user_id, t.name as name_then, n.name, t.listed as listed_then, n.listed
from reporting.user_directory n
left join reporting.user_directory_at((select min(finished_at) from reporting.runs)) t using (organization_id, user_id)
where (t.name, t.listed) is distinct from (n.name, n.listed)
order by organization_id, n.user_id
limit 10`,
    unseen:
      'Users who joined and left between two checks are missing. If `prune` removed the first run, the oldest run that is kept takes its place, and values of that time that are no longer stored are null.',
  },
  {
    by: 'product',
    question: 'Which statuses and types are new since the first run?',
    sql: `select field, value, sum(comments) as comments, min(first_seen_at) > (select min(finished_at) from reporting.runs) as is_new
from reporting.observed_values
group by field, value
order by is_new desc, field, value`,
    unseen:
      'Values that existed only between two checks are missing. If `prune` removed the first run, the oldest run that is kept takes its place, and a value is as old as the oldest stored version that has it.',
  },
]
