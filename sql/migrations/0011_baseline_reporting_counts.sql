-- Up Migration
-- Answers for analysts: counts of activity, threads, documents and people, and how fresh they are.

-- One organization after the other, in the order of comments_activity: nothing is sorted but the few comments of a day,
-- and a narrowing to days is a range of the index in each organization.
create view reporting.comment_activity_daily as
select o.organization_id, n.day, n.comments, n.authors, n.annotations
from collab_store.organizations o
cross join lateral (
  select c.day, count(*) as comments, count(distinct c.author_user_id collate "C") as authors,
    count(distinct c.annotation_key) as annotations
  from collab_store.comments c
  where c.organization_key = o.organization_key and c.deleted_at is null
  group by c.day
) n;
comment on view reporting.comment_activity_daily is 'Comments by organization and day (UTC) of the service''s lastUpdated; live comments only.';
comment on column reporting.comment_activity_daily.organization_id is 'organizationId of the service: the organization that was asked for.';
comment on column reporting.comment_activity_daily.day is 'Day in UTC of the comments'' lastUpdated (the service''s clock): an edit moves a comment to the day of the edit. Null where the service gave no time.';
comment on column reporting.comment_activity_daily.comments is 'Live comments last updated on that day.';
comment on column reporting.comment_activity_daily.authors is 'Different authors among them.';
comment on column reporting.comment_activity_daily.annotations is 'Different annotations among them.';

-- The weeks of an organization are counted up from its first to its last, each a range of comments_activity: so a
-- narrowing to weeks reads those weeks alone, though the index is by days. Times before 2000 and after 2100 are placeholders
-- rather than times, and would make centuries of empty weeks: they are looked for by themselves, as is no time at all.
-- Below a policy a sum is no bound of an index, because adding may fail and tell of a row; a column of a sub-select is one.
create view reporting.author_activity as
select w.organization_id, w.week, w.author_user_id, u.name as author_name, w.comments, w.annotations
from (
  select o.organization_key, o.organization_id, s.week, n.author_user_id, n.comments, n.annotations
  from collab_store.organizations o
  cross join lateral (
    select min(c.day) as first_day, max(c.day) as last_day
    from collab_store.comments c
    where c.organization_key = o.organization_key and c.deleted_at is null and c.day >= '2000-01-03' and c.day < '2100-01-04'
  ) e
  cross join lateral (
    select m.week, m.week + 7 as next_week
    from (select generate_series(date_trunc('week', e.first_day::timestamp), e.last_day::timestamp, interval '1 week')::date as week) m
    offset 0
  ) s
  cross join lateral (
    -- Nearly all groups hold one comment, or two: to sort each of millions of them costs more than all the rest.
    select c.author_user_id collate "C" as author_user_id, count(*) as comments,
      case when min(c.annotation_key) = max(c.annotation_key) then 1 when count(*) = 2 then 2
        else (select count(distinct k) from unnest(array_agg(c.annotation_key)) k) end as annotations
    from collab_store.comments c
    where c.organization_key = o.organization_key and c.deleted_at is null and c.day >= s.week and c.day < s.next_week
    group by 1
  ) n
  union all
  select o.organization_key, o.organization_id, n.week, n.author_user_id, n.comments, n.annotations
  from collab_store.organizations o
  cross join (values (date '-infinity', date '2000-01-03'), ('2100-01-04', 'infinity')) r (first_day, end_day)
  cross join lateral (
    select date_trunc('week', c.day::timestamp)::date as week, c.author_user_id collate "C" as author_user_id,
      count(*) as comments, count(distinct c.annotation_key) as annotations
    from collab_store.comments c
    where c.organization_key = o.organization_key and c.deleted_at is null and c.day >= r.first_day and c.day < r.end_day
    group by 1, 2
  ) n
  union all
  select o.organization_key, o.organization_id, null, n.author_user_id, n.comments, n.annotations
  from collab_store.organizations o
  cross join lateral (
    select c.author_user_id collate "C" as author_user_id, count(*) as comments, count(distinct c.annotation_key) as annotations
    from collab_store.comments c
    where c.organization_key = o.organization_key and c.deleted_at is null and c.day is null
    group by 1
  ) n
) w
left join collab_store.users u on u.organization_key = w.organization_key and u.user_id = w.author_user_id;
comment on view reporting.author_activity is 'Live comments by organization, week and author. Who writes how much, and since when no more?';
comment on column reporting.author_activity.organization_id is 'organizationId of the service: the organization that was asked for.';
comment on column reporting.author_activity.week is 'The Monday (UTC) on which the week of the comments'' lastUpdated begins (the service''s clock): an edit moves a comment to the week of the edit. Null where the service gave no time.';
comment on column reporting.author_activity.author_user_id is 'userId of the author; null where the service named none.';
comment on column reporting.author_activity.author_name is 'The author''s current name.';
comment on column reporting.author_activity.comments is 'Live comments of that author last updated in that week.';
comment on column reporting.author_activity.annotations is 'Different annotations among them.';

create view reporting.thread_summary as
select o.organization_id, d.document_id, a.annotation_id, a.comment_count as comments, cardinality(a.authors) as people,
  a.first_comment_at, a.last_comment_at, a.first_answer_at,
  round(extract(epoch from a.first_answer_at - a.first_comment_at) / 3600, 2) as hours_to_first_answer,
  round(extract(epoch from now() - a.last_comment_at) / 3600, 2) as hours_since_last_comment,
  a.changed_at
from collab_store.annotations a
join collab_store.documents d using (document_key)
join collab_store.organizations o using (organization_key);
comment on view reporting.thread_summary is 'One row an annotation with its live comments. Which threads are busy, answered late, or forgotten? Key: organization_id, document_id, annotation_id.';
comment on column reporting.thread_summary.organization_id is 'organizationId of the service: the organization that was asked for.';
comment on column reporting.thread_summary.document_id is 'documentId of the service: the document that was asked for.';
comment on column reporting.thread_summary.annotation_id is 'annotationId of the service: the comment annotation that was asked for.';
comment on column reporting.thread_summary.comments is 'Live comments in it; 0 where there are none.';
comment on column reporting.thread_summary.people is 'Different authors (userIds) of the live comments.';
comment on column reporting.thread_summary.first_comment_at is 'When the first of the live comments was written: lastUpdated (the service''s clock) of its first version that a check saw. An edit before that check moves it.';
comment on column reporting.thread_summary.last_comment_at is 'Latest lastUpdated of a live comment (the service''s clock): written or edited.';
comment on column reporting.thread_summary.first_answer_at is 'When somebody else than the first comment''s author first wrote, told as first_comment_at is; null while nobody did, and where the first author is not known.';
comment on column reporting.thread_summary.hours_to_first_answer is 'Hours from first_comment_at to first_answer_at.';
comment on column reporting.thread_summary.hours_since_last_comment is 'Hours from last_comment_at to now.';
comment on column reporting.thread_summary.changed_at is 'When a check last found any of its comments added, changed, deleted or restored (our clock).';

create view reporting.document_engagement as
select o.organization_id, d.document_id, t.annotations, t.annotations_with_comments, t.comments, cardinality(p.authors)::bigint as people,
  m.members, m.members_who_comment, t.first_comment_at, t.last_comment_at,
  round(extract(epoch from now() - t.last_comment_at) / 86400, 2) as days_since_last_comment
from collab_store.documents d
join collab_store.organizations o using (organization_key)
cross join lateral (
  select count(*) filter (where a.active) as annotations, count(*) filter (where a.comment_count > 0) as annotations_with_comments,
    coalesce(sum(a.comment_count), 0) as comments, min(a.first_comment_at) as first_comment_at,
    max(a.last_comment_at) as last_comment_at
  from collab_store.annotations a
  where a.document_key = d.document_key
) t
cross join lateral (
  select coalesce(array_agg(distinct x.author collate "C"), '{}') as authors
  from collab_store.annotations a, unnest(a.authors) x (author)
  where a.document_key = d.document_key
) p
cross join lateral (
  select count(*) as members, count(*) filter (where s.user_id = any(p.authors)) as members_who_comment
  from collab_store.document_users s
  where s.document_key = d.document_key and s.removed_at is null
) m;
comment on view reporting.document_engagement is 'One row a document with its live comments and present members. Which documents are discussed, and by how many of those who are in them? Key: organization_id, document_id.';
comment on column reporting.document_engagement.organization_id is 'organizationId of the service: the organization that was asked for.';
comment on column reporting.document_engagement.document_id is 'documentId of the service: the document that was asked for.';
comment on column reporting.document_engagement.annotations is 'Annotations in it that the catalog lists.';
comment on column reporting.document_engagement.annotations_with_comments is 'Annotations with at least one live comment.';
comment on column reporting.document_engagement.comments is 'Live comments.';
comment on column reporting.document_engagement.people is 'Different authors (userIds) of the live comments, members or not.';
comment on column reporting.document_engagement.members is 'People in the document as of its last check.';
comment on column reporting.document_engagement.members_who_comment is 'Members who wrote at least one of the live comments.';
comment on column reporting.document_engagement.first_comment_at is 'When the first of the live comments was written, told as in thread_summary (the service''s clock).';
comment on column reporting.document_engagement.last_comment_at is 'Latest lastUpdated of a live comment (the service''s clock).';
comment on column reporting.document_engagement.days_since_last_comment is 'Days from last_comment_at to now.';

create view reporting.memberships as
select m.organization_id, m.kind, m.document_id, m.organization_user_group_id, m.user_id, u.name, u.email, m.since, m.until
from (
  select o.organization_key, o.organization_id, 'document' as kind, d.document_id, null::text as organization_user_group_id,
    s.user_id, s.joined_at as since, s.removed_at as until
  from collab_store.document_users s
  join collab_store.documents d using (document_key)
  join collab_store.organizations o using (organization_key)
  union all
  select o.organization_key, o.organization_id, 'user group', null, g.organization_user_group_id,
    s.user_id, s.joined_at, s.removed_at
  from collab_store.user_group_members s
  join collab_store.user_groups g using (user_group_key)
  join collab_store.organizations o using (organization_key)
  union all
  select o.organization_key, o.organization_id, 'document', d.document_id, null, s.user_id, s.joined_at, s.removed_at
  from collab_store.past_memberships s
  join collab_store.documents d using (document_key)
  join collab_store.organizations o using (organization_key)
  union all
  select o.organization_key, o.organization_id, 'user group', null, g.organization_user_group_id, s.user_id, s.joined_at, s.removed_at
  from collab_store.past_memberships s
  join collab_store.user_groups g using (user_group_key)
  join collab_store.organizations o using (organization_key)
) m
left join collab_store.users u on u.organization_key = m.organization_key and u.user_id = m.user_id;
comment on view reporting.memberships is 'One row a stay of a person in a document or user group, past ones too. Who is, and was, in what?';
comment on column reporting.memberships.organization_id is 'organizationId of the service: the organization that was asked for.';
comment on column reporting.memberships.kind is 'What the person is in: document or user group.';
comment on column reporting.memberships.document_id is 'documentId of the document; null for a user group.';
comment on column reporting.memberships.organization_user_group_id is 'Id of the organization user group; null for a document.';
comment on column reporting.memberships.user_id is 'userId of the person.';
comment on column reporting.memberships.name is 'The person''s current name.';
comment on column reporting.memberships.email is 'The person''s current e-mail address.';
comment on column reporting.memberships.since is 'When a check first saw the person there in this stay (our clock); it began between that check and the one before, or, where that was the very first check, at any time before.';
comment on column reporting.memberships.until is 'When a check first found the person gone (our clock); the stay ended between that check and the one before. Null while it lasts.';

create function reporting.memberships_at(known_at timestamptz)
returns table (organization_id text, kind text, document_id text, organization_user_group_id text, user_id text, name text,
  email text, since timestamptz)
language sql stable
as $$
  select m.organization_id, m.kind, m.document_id, m.organization_user_group_id, m.user_id, m.name, m.email, m.since
  from reporting.memberships m
  where m.since <= known_at and (m.until is null or m.until > known_at)
$$;
comment on function reporting.memberships_at(timestamptz) is 'Who was in which document and user group as it was known at that time (our clock). People have their current names.';

create view reporting.user_directory as
select o.organization_id, p.user_id, p.name, p.email, p.listed, p.documents, p.user_groups, p.document_ids,
  p.organization_user_group_ids, p.first_seen_at, p.left_at
from collab_store.organizations o
cross join lateral (
  select u.user_id, u.name, u.email, u.listed, coalesce(d.documents, 0) as documents, coalesce(g.user_groups, 0) as user_groups,
    coalesce(d.document_ids, '{}') as document_ids,
    coalesce(g.organization_user_group_ids, '{}') as organization_user_group_ids, u.first_seen_at, u.removed_at as left_at
  from collab_store.users u
  left join (
    select s.user_id, count(*) as documents, array_agg(x.document_id order by x.document_id collate "C") as document_ids
    from collab_store.documents x join collab_store.document_users s using (document_key)
    where x.organization_key = o.organization_key and s.removed_at is null
    group by s.user_id
  ) d using (user_id)
  left join (
    select s.user_id, count(*) as user_groups,
      array_agg(x.organization_user_group_id order by x.organization_user_group_id collate "C") as organization_user_group_ids
    from collab_store.user_groups x join collab_store.user_group_members s using (user_group_key)
    where x.organization_key = o.organization_key and s.removed_at is null
    group by s.user_id
  ) g using (user_id)
  where u.organization_key = o.organization_key
  offset 0 -- one organization after the other: its memberships are gathered once, not once a person
) p;
comment on view reporting.user_directory is 'One row a person and organization. Who is there, in which documents and user groups, and who left? Key: organization_id, user_id.';
comment on column reporting.user_directory.organization_id is 'organizationId of the service: the organization that was asked for.';
comment on column reporting.user_directory.user_id is 'userId of the service.';
comment on column reporting.user_directory.name is 'Name as last received; null where the service left it out.';
comment on column reporting.user_directory.email is 'E-mail address as last received; null where the service left it out.';
comment on column reporting.user_directory.listed is 'True while the organization''s own listing holds the person; false for those who left it, and for guests and authors who never were in it.';
comment on column reporting.user_directory.documents is 'Documents that the person is in, as of their last checks.';
comment on column reporting.user_directory.user_groups is 'Organization user groups that the person is in, as of their last checks.';
comment on column reporting.user_directory.document_ids is 'documentIds of those documents, sorted.';
comment on column reporting.user_directory.organization_user_group_ids is 'Ids of those user groups, sorted.';
comment on column reporting.user_directory.first_seen_at is 'When a check first saw the person in this organization (our clock).';
comment on column reporting.user_directory.left_at is 'When a check first found the person gone from the organization''s listing (our clock); it happened between that check and the one before. Null while listed, and for those never listed.';

create view reporting.freshness as
select 'organization' as level, x.organization_id, null::text as document_id, null::text as annotation_id,
  null::text as organization_user_group_id, x.checked_at, now() - x.checked_at as age
from collab.organizations x where x.active
union all
select 'user group', x.organization_id, null, null, x.organization_user_group_id, x.checked_at, now() - x.checked_at
from collab.user_groups x where x.active
union all
select 'document', x.organization_id, x.document_id, null, null, x.checked_at, now() - x.checked_at
from collab.documents x where x.active
union all
select 'annotation', x.organization_id, x.document_id, x.annotation_id, null, x.checked_at, now() - x.checked_at
from collab.annotations x where x.active;
comment on view reporting.freshness is 'Age of the last good check, one row an active organization, user group, document and annotation.';
comment on column reporting.freshness.level is 'What the row is about: organization, user group, document or annotation.';
comment on column reporting.freshness.organization_id is 'organizationId of the service: the organization that was asked for.';
comment on column reporting.freshness.document_id is 'documentId, for documents and annotations.';
comment on column reporting.freshness.annotation_id is 'annotationId, for annotations.';
comment on column reporting.freshness.organization_user_group_id is 'Id of the user group, for user groups.';
comment on column reporting.freshness.checked_at is 'When the last good reading began (our clock); null if there was none.';
comment on column reporting.freshness.age is 'Time since checked_at; null if never checked.';

create view reporting.coverage as
select s.organization_id, s.level, count(*) filter (where s.active) as known,
  count(*) filter (where s.active and s.checked_at >= now() - interval '36 hours') as fresh,
  count(*) filter (where s.active and s.checked_at < now() - interval '36 hours') as stale,
  count(*) filter (where s.active and s.checked_at is null) as never_synced,
  count(*) filter (where s.active and s.is_failing) as failing,
  count(*) filter (where s.active and s.is_held) as held,
  count(*) filter (where not s.active) as not_in_catalog
from (
  select x.organization_id, 'organization' as level, x.active, t.checked_at,
    exists (select from sync.failures f
      where f.batch_key = b.batch_key and f.scope_no = 0 and f.at > coalesce(t.checked_at, '-infinity')) as is_failing,
    exists (select from sync.held h where h.kind = 'organization' and h.scope_key = x.organization_key and h.resolved_at is null) as is_held
  from collab_store.organizations x
  left join collab_store.batches b on b.organization_key = x.organization_key and b.operation = 'users' and b.batch_no = 0
  cross join lateral (select coalesce(nullif(x.own_checked_at, '-infinity'),
    case when x.own_checked_at is null then b.checked_at end) as checked_at) t
  union all
  select o.organization_id, 'user group', x.active, t.checked_at,
    exists (select from sync.failures f
      where f.batch_key = x.batch_key and f.scope_no = x.scope_no and f.at > coalesce(t.checked_at, '-infinity')),
    exists (select from sync.held h where h.kind = 'group' and h.scope_key = x.user_group_key and h.resolved_at is null)
  from collab_store.user_groups x
  join collab_store.organizations o using (organization_key)
  join collab_store.batches b using (batch_key)
  cross join lateral (select coalesce(nullif(x.own_checked_at, '-infinity'),
    case when x.own_checked_at is null then b.checked_at end) as checked_at) t
  union all
  select o.organization_id, 'document', x.active, t.checked_at,
    exists (select from sync.failures f
      where f.batch_key = x.batch_key and f.scope_no = x.scope_no and f.at > coalesce(t.checked_at, '-infinity')),
    exists (select from sync.held h where h.kind = 'document' and h.scope_key = x.document_key and h.resolved_at is null)
  from collab_store.documents x
  join collab_store.organizations o using (organization_key)
  join collab_store.batches b using (batch_key)
  cross join lateral (select coalesce(nullif(x.own_checked_at, '-infinity'),
    case when x.own_checked_at is null then b.checked_at end) as checked_at) t
  union all
  select o.organization_id, 'annotation', x.active, t.checked_at,
    exists (select from sync.failures f
      where f.batch_key = x.batch_key and f.scope_no = x.scope_no and f.at > coalesce(t.checked_at, '-infinity')),
    false
  from collab_store.annotations x
  join collab_store.documents d using (document_key)
  join collab_store.organizations o using (organization_key)
  join collab_store.batches b on b.batch_key = x.batch_key
  cross join lateral (select coalesce(nullif(x.own_checked_at, '-infinity'),
    case when x.own_checked_at is null then b.checked_at end) as checked_at) t
  union all
  -- People are checked by their organization's listing, which is its catalog of people.
  select g.organization_id, 'user', x.listed, t.checked_at, false, false
  from collab_store.users x
  join collab_store.organizations g using (organization_key)
  left join collab_store.batches b on b.organization_key = x.organization_key and b.operation = 'users' and b.batch_no = 0
  cross join lateral (select coalesce(nullif(g.own_checked_at, '-infinity'),
    case when g.own_checked_at is null then b.checked_at end) as checked_at) t
) s
group by 1, 2;
comment on view reporting.coverage is 'How much of what is known was checked, and how lately, by organization and level. How far can the numbers be trusted? known = fresh + stale + never_synced. Key: organization_id, level.';
comment on column reporting.coverage.organization_id is 'organizationId of the service: the organization that was asked for.';
comment on column reporting.coverage.level is 'What is counted: organization, user group, document, annotation or user.';
comment on column reporting.coverage.known is 'How many the catalog lists; of users, how many the organization''s listing holds.';
comment on column reporting.coverage.fresh is 'Last good reading began within 36 hours (our clock): one nightly run may be late.';
comment on column reporting.coverage.stale is 'Last good reading is older than that.';
comment on column reporting.coverage.never_synced is 'No good reading yet.';
comment on column reporting.coverage.failing is 'Failed since the last good reading; also counted as fresh, stale or never_synced.';
comment on column reporting.coverage.held is 'The last listing lacked so many users that nobody was removed until a person looks; also counted as fresh, stale or never_synced.';
comment on column reporting.coverage.not_in_catalog is 'Ids that our rows hold and the catalog no longer lists; of users, people seen as authors or members who are not in the organization''s listing.';
