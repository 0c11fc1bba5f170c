-- Up Migration
-- When a comment was written: by the member of it that says so (COMMENT_WRITTEN_MEMBER), else by lastUpdated of the first
-- version that was seen, whatever became of it since. What speaks of writing goes by that, and edits move nothing.
-- Where nothing is known but the current lastUpdated, the columns are null: a first load without the member is not a byte
-- larger, and no row is written by this migration. `collab-sync migrate` fills in afterwards, in steps, what is known of
-- comments that were edited before (src/database/written.ts).

alter table collab_store.definitions
  add column written_member text,
  add column written_members_before text[],
  add column written_since timestamptz not null default now();
comment on column collab_store.definitions.written_member is 'COMMENT_WRITTEN_MEMBER: the member of a comment that says when it was written, names with dots between; null where none does.';
comment on column collab_store.definitions.written_members_before is 'Not null while stored comments are still to be looked at for when they were written: the members by which some may have their time. `migrate` does it.';
comment on column collab_store.definitions.written_since is 'When the tables began to keep it: workers that started earlier do not.';
update collab_store.definitions set written_members_before = '{}' where exists (select from collab_store.comments);

alter table collab_store.comments
  add column written_at timestamptz,
  add column first_updated timestamptz,
  add column not_before timestamptz,
  -- From here on the day of writing, which is another column's.
  alter column day drop expression;
comment on column collab_store.comments.written_at is 'When it was written, by the member of it that says so (the service''s clock); null where none does.';
comment on column collab_store.comments.first_updated is 'last_updated of the first version that is known, where it is not that of now; -infinity where it had none.';
comment on column collab_store.comments.not_before is 'When the last good check of the thread before the one that first saw the comment began: it was not there then. Null where there was none, and where that check may have missed it.';
comment on column collab_store.comments.day is 'Day in UTC on which it was written, as collab.comments.written_at tells it.';

create function collab_store.written_at(written_at timestamptz, first_updated timestamptz, last_updated timestamptz)
returns timestamptz
language sql immutable parallel safe
return coalesce(written_at, nullif(coalesce(first_updated, last_updated), '-infinity'));
comment on function collab_store.written_at(timestamptz, timestamptz, timestamptz) is 'When a comment was written, of its three columns: by its own member, else lastUpdated of its first known version.';

create or replace function collab_store.thread_facts(of_annotation_key integer)
returns table (first_comment_at timestamptz, last_comment_at timestamptz, first_answer_at timestamptz, authors text[])
language sql stable
as $$
  select min(t.written_at), max(t.written_at), min(t.written_at) filter (where t.author_user_id <> t.first_author),
    coalesce(array_agg(distinct t.author_user_id collate "C") filter (where t.author_user_id is not null), '{}')
  from (
    select c.author_user_id, w.written_at, first_value(c.author_user_id) over (order by w.written_at, c.comment_id) as first_author
    from collab_store.comments c
    cross join lateral (select collab_store.written_at(c.written_at, c.first_updated, c.last_updated) as written_at) w
    where c.annotation_key = of_annotation_key and c.deleted_at is null
  ) t
$$;
comment on column collab_store.annotations.first_comment_at is 'Earliest time a live comment was written.';
comment on column collab_store.annotations.last_comment_at is 'Latest time a live comment was written.';

create or replace view collab.comments as
select o.organization_id, d.document_id, a.annotation_id, c.comment_id,
  c.comment_text, c.comment_html, c.author_user_id, c.author_name, c.author_email,
  c.status, c.type, c.last_updated,
  jsonb_strip_nulls(jsonb_build_object(
    'commentId', c.comment_id, 'commentText', c.comment_text, 'commentHtml', c.comment_html,
    'from', case when c.author_user_id is not null or c.author_name is not null or c.author_email is not null
      then jsonb_build_object('userId', c.author_user_id, 'name', c.author_name, 'email', c.author_email) end,
    'lastUpdated', to_char(c.last_updated at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'status', c.status, 'type', c.type)) || coalesce(c.rest, '{}') as raw,
  c.first_seen_at, c.changed_at, c.deleted_at,
  collab_store.last_good_check(a.own_checked_at, b.checked_at) as checked_at,
  collab_store.is_stale(collab_store.last_good_check(a.own_checked_at, b.checked_at), a.failing_since,
    (select stale_before from collab_store.promise)) as is_stale,
  a.active and d.active and o.active as in_catalog,
  collab_store.written_at(c.written_at, c.first_updated, c.last_updated) as written_at,
  c.written_at is not null as written_at_is_exact,
  case when c.written_at is null then c.not_before end as written_not_before
from collab_store.comments c
join collab_store.annotations a using (annotation_key)
join collab_store.documents d using (document_key)
join collab_store.organizations o on o.organization_key = d.organization_key
left join collab_store.batches b on b.batch_key = a.batch_key;
comment on column collab.comments.written_at is 'When the comment was written (the service''s clock): what the member named by COMMENT_WRITTEN_MEMBER says; without it lastUpdated of the first version that a check saw, which is later where it was edited before. Null where the service told neither.';
comment on column collab.comments.written_at_is_exact is 'True where the comment itself says when it was written (COMMENT_WRITTEN_MEMBER); false where it may have been earlier than written_at.';
comment on column collab.comments.written_not_before is 'When the last good check of the thread before the first look at the comment began (our clock): it was written later. Null where written_at is exact, at the thread''s first look, and where that check may have missed the comment.';

create or replace view reporting.comments as
select o.organization_id, d.document_id, a.annotation_id, c.comment_id,
  c.author_user_id,
  coalesce(u.name, c.author_name) as author_name,
  coalesce(u.email, c.author_email) as author_email,
  c.comment_text, c.status, c.type, c.last_updated, c.first_seen_at, c.changed_at,
  collab_store.last_good_check(a.own_checked_at, b.checked_at) as checked_at,
  collab_store.is_stale(collab_store.last_good_check(a.own_checked_at, b.checked_at), a.failing_since,
    (select stale_before from collab_store.promise)) as is_stale,
  a.active and d.active and o.active as in_catalog,
  c.author_name as author_name_then, c.author_email as author_email_then,
  collab_store.written_at(c.written_at, c.first_updated, c.last_updated) as written_at,
  c.written_at is not null as written_at_is_exact,
  case when c.written_at is null then c.not_before end as written_not_before
from collab_store.comments c
left join collab_store.annotations a using (annotation_key)
left join collab_store.documents d on d.document_key = a.document_key and d.organization_key = c.organization_key
left join collab_store.organizations o on o.organization_key = c.organization_key
left join collab_store.users u on u.organization_key = c.organization_key and u.user_id = c.author_user_id
left join collab_store.batches b on b.batch_key = a.batch_key
where c.deleted_at is null;
comment on column reporting.comments.last_updated is 'lastUpdated of the service (the service''s clock): when it was written or last edited. What speaks of writing goes by written_at.';
comment on column reporting.comments.written_at is 'When the comment was written (the service''s clock): what the member named by COMMENT_WRITTEN_MEMBER says; without it lastUpdated of the first version that a check saw, which is later where it was edited before. Null where the service told neither.';
comment on column reporting.comments.written_at_is_exact is 'True where the comment itself says when it was written (COMMENT_WRITTEN_MEMBER); false where it may have been earlier than written_at.';
comment on column reporting.comments.written_not_before is 'When the last good check of the thread before the first look at the comment began (our clock): it was written later. Null where written_at is exact, at the thread''s first look, and where that check may have missed the comment.';

create or replace view reporting.comments_with_deleted as
select o.organization_id, d.document_id, a.annotation_id, c.comment_id, c.author_user_id,
  coalesce(u.name, c.author_name) as author_name, coalesce(u.email, c.author_email) as author_email,
  c.comment_text, c.status, c.type, c.last_updated, c.first_seen_at, c.changed_at,
  c.deleted_at is not null as is_deleted, c.deleted_at,
  collab_store.last_good_check(a.own_checked_at, b.checked_at) as checked_at,
  collab_store.is_stale(collab_store.last_good_check(a.own_checked_at, b.checked_at), a.failing_since,
    (select stale_before from collab_store.promise)) as is_stale,
  a.active and d.active and o.active as in_catalog,
  collab_store.written_at(c.written_at, c.first_updated, c.last_updated) as written_at,
  c.written_at is not null as written_at_is_exact,
  case when c.written_at is null then c.not_before end as written_not_before
from collab_store.comments c
left join collab_store.annotations a using (annotation_key)
left join collab_store.documents d on d.document_key = a.document_key and d.organization_key = c.organization_key
left join collab_store.organizations o on o.organization_key = c.organization_key
left join collab_store.users u on u.organization_key = c.organization_key and u.user_id = c.author_user_id
left join collab_store.batches b on b.batch_key = a.batch_key;
comment on column reporting.comments_with_deleted.written_at is 'When the comment was written (the service''s clock): what the member named by COMMENT_WRITTEN_MEMBER says; without it lastUpdated of the first version that a check saw, which is later where it was edited before. Null where the service told neither.';
comment on column reporting.comments_with_deleted.written_at_is_exact is 'True where the comment itself says when it was written (COMMENT_WRITTEN_MEMBER); false where it may have been earlier than written_at.';
comment on column reporting.comments_with_deleted.written_not_before is 'When the last good check of the thread before the first look at the comment began (our clock): it was written later. Null where written_at is exact, at the thread''s first look, and where that check may have missed the comment.';
comment on column reporting.thread_summary.first_comment_at is 'When the first of the live comments was written (written_at of reporting.comments).';
comment on column reporting.thread_summary.last_comment_at is 'When the last of the live comments was written; edits do not move it.';
comment on column reporting.thread_summary.first_answer_at is 'When somebody else than the first comment''s author first wrote; null while nobody did, and where the first author is not known.';

-- What left the catalog is counted apart. There is nothing in it where nothing left.
create index annotations_not_in_catalog on collab_store.annotations (document_key) where not active;
comment on index collab_store.annotations_not_in_catalog is 'Annotations that left the catalog.';

create view collab_store.organization_checks as
select organization_key,
  case when bool_and(checked_at is not null) filter (where operation = 'comments')
    then min(checked_at) filter (where operation = 'comments') end as annotations_checked_at,
  coalesce(sum(scopes) filter (where is_stale and operation = 'comments'), 0)::bigint as stale_annotations,
  coalesce(sum(scopes) filter (where is_stale and operation = 'users'), 0)::bigint as stale_listings
from collab_store.checks
group by 1;
comment on view collab_store.organization_checks is 'The checks of each organization in the catalog, for totals: found once a query, whatever it is narrowed to.';
comment on column collab_store.organization_checks.organization_key is 'The organization that they belong to.';
comment on column collab_store.organization_checks.annotations_checked_at is 'When the oldest of the last good checks of its annotations began; null where one was never checked.';
comment on column collab_store.organization_checks.stale_annotations is 'How many of its annotations may be out of date.';
comment on column collab_store.organization_checks.stale_listings is 'How many of its listings (its own, of its documents, of its user groups) may be out of date.';

-- The joins of what follows leave the plan where none of their columns is asked for.
create or replace view reporting.comment_activity_daily as
select o.organization_id, n.day, n.comments, n.authors, n.annotations,
  s.annotations_checked_at as checked_at, coalesce(s.stale_annotations, 0) > 0 as is_stale, o.active as in_catalog,
  coalesce(s.stale_annotations, 0) as stale_annotations,
  case when o.active then coalesce(g.comments, 0) else n.comments end as comments_not_in_catalog
from collab_store.organizations o
left join collab_store.organization_checks s on s.organization_key = o.organization_key
cross join lateral (
  select c.day, count(*) as comments, count(distinct c.author_user_id collate "C") as authors,
    count(distinct c.annotation_key) as annotations
  from collab_store.comments c
  where c.organization_key = o.organization_key and c.deleted_at is null
  group by c.day
) n
left join (
  select d.organization_key, coalesce(gone.day, 'infinity') as day, count(*) as comments
  from collab_store.annotations a
  join collab_store.documents d using (document_key)
  join collab_store.comments gone using (annotation_key)
  where not a.active and gone.deleted_at is null
  group by 1, 2
) g on g.organization_key = o.organization_key and g.day = coalesce(n.day, 'infinity');
comment on view reporting.comment_activity_daily is 'Comments by organization and the day (UTC) on which they were written; live comments only.';
comment on column reporting.comment_activity_daily.day is 'Day in UTC on which the comments were written (written_at of reporting.comments): an edit moves none. Null where the service gave no time.';
comment on column reporting.comment_activity_daily.comments is 'Live comments written on that day, those in annotations that left the catalog too.';
comment on column reporting.comment_activity_daily.checked_at is 'When the oldest of the last good checks of the organization''s annotations in the catalog began (our clock); null where one was never checked.';
comment on column reporting.comment_activity_daily.is_stale is 'True where stale_annotations is not 0: any day may lack something.';
comment on column reporting.comment_activity_daily.in_catalog is 'True while the catalog lists the organization: only then is it checked.';
comment on column reporting.comment_activity_daily.stale_annotations is 'How many of the organization''s annotations in the catalog may be out of date, as reporting.freshness tells it.';
comment on column reporting.comment_activity_daily.comments_not_in_catalog is 'How many of the comments are in annotations that left the catalog, and are no longer checked.';

create or replace view reporting.author_activity as
select w.organization_id, w.week, w.author_user_id, u.name as author_name, w.comments, w.annotations,
  s.annotations_checked_at as checked_at, coalesce(s.stale_annotations, 0) > 0 as is_stale, w.active as in_catalog,
  coalesce(s.stale_annotations, 0) as stale_annotations,
  case when w.active then coalesce(g.comments, 0) else w.comments end as comments_not_in_catalog
from (
  select o.organization_key, o.organization_id, o.active, s.week, n.author_user_id, n.comments, n.annotations
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
  select o.organization_key, o.organization_id, o.active, n.week, n.author_user_id, n.comments, n.annotations
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
  select o.organization_key, o.organization_id, o.active, null, n.author_user_id, n.comments, n.annotations
  from collab_store.organizations o
  cross join lateral (
    select c.author_user_id collate "C" as author_user_id, count(*) as comments, count(distinct c.annotation_key) as annotations
    from collab_store.comments c
    where c.organization_key = o.organization_key and c.deleted_at is null and c.day is null
    group by 1
  ) n
) w
left join collab_store.users u on u.organization_key = w.organization_key and u.user_id = w.author_user_id
left join collab_store.organization_checks s on s.organization_key = w.organization_key
left join (
  select d.organization_key, coalesce(date_trunc('week', gone.day::timestamp)::date, 'infinity') as week,
    coalesce('=' || gone.author_user_id, '') as author, count(*) as comments
  from collab_store.annotations a
  join collab_store.documents d using (document_key)
  join collab_store.comments gone using (annotation_key)
  where not a.active and gone.deleted_at is null
  group by 1, 2, 3
) g on g.organization_key = w.organization_key and g.week = coalesce(w.week, 'infinity')
  and g.author = coalesce('=' || w.author_user_id, '');

comment on view reporting.author_activity is 'Live comments by organization, the week in which they were written, and author. Who writes how much, and since when no more?';
comment on column reporting.author_activity.week is 'The Monday (UTC) on which the week begins in which the comments were written (written_at of reporting.comments): an edit moves none. Null where the service gave no time.';
comment on column reporting.author_activity.comments is 'Live comments that the author wrote in that week, those in annotations that left the catalog too.';
comment on column reporting.author_activity.checked_at is 'When the oldest of the last good checks of the organization''s annotations in the catalog began (our clock); null where one was never checked.';
comment on column reporting.author_activity.is_stale is 'True where stale_annotations is not 0: any week may lack something.';
comment on column reporting.author_activity.in_catalog is 'True while the catalog lists the organization: only then is it checked.';
comment on column reporting.author_activity.stale_annotations is 'How many of the organization''s annotations in the catalog may be out of date, as reporting.freshness tells it.';
comment on column reporting.author_activity.comments_not_in_catalog is 'How many of the comments are in annotations that left the catalog, and are no longer checked.';

create or replace view reporting.document_engagement as
select o.organization_id, d.document_id, t.annotations, t.annotations_with_comments, t.comments, cardinality(p.authors)::bigint as people,
  m.members, m.members_who_comment, t.first_comment_at, t.last_comment_at,
  round(extract(epoch from now() - t.last_comment_at) / 86400, 2) as days_since_last_comment,
  case when l.checked_at is not null and t.all_checked then least(l.checked_at, t.checked_at) end as checked_at,
  collab_store.is_stale(l.checked_at, d.failing_since, (select stale_before from collab_store.promise))
    or t.stale_annotations > 0 as is_stale,
  d.active and o.active as in_catalog, t.stale_annotations,
  case when d.active and o.active then t.comments_not_in_catalog else t.comments end as comments_not_in_catalog
from collab_store.documents d
join collab_store.organizations o using (organization_key)
left join collab_store.batches own on own.batch_key = d.batch_key
cross join lateral (select collab_store.last_good_check(d.own_checked_at, own.checked_at) as checked_at) l
cross join lateral (
  select count(*) filter (where a.active) as annotations, count(*) filter (where a.comment_count > 0) as annotations_with_comments,
    coalesce(sum(a.comment_count), 0) as comments, min(a.first_comment_at) as first_comment_at,
    max(a.last_comment_at) as last_comment_at,
    min(collab_store.last_good_check(a.own_checked_at, b.checked_at)) filter (where a.active) as checked_at,
    coalesce(bool_and(collab_store.last_good_check(a.own_checked_at, b.checked_at) is not null) filter (where a.active), true)
      as all_checked,
    count(*) filter (where a.active and collab_store.is_stale(collab_store.last_good_check(a.own_checked_at, b.checked_at),
      a.failing_since, (select stale_before from collab_store.promise))) as stale_annotations,
    coalesce(sum(a.comment_count) filter (where not a.active), 0) as comments_not_in_catalog
  from collab_store.annotations a
  left join collab_store.batches b on b.batch_key = a.batch_key
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
comment on column reporting.document_engagement.first_comment_at is 'When the first of the live comments was written (written_at of reporting.comments).';
comment on column reporting.document_engagement.last_comment_at is 'When the last of the live comments was written; edits do not move it.';
comment on column reporting.document_engagement.comments is 'Live comments, those in annotations that left the catalog too.';
comment on column reporting.document_engagement.checked_at is 'When the oldest of the last good checks of the document''s listing of users and of its annotations in the catalog began (our clock); null where one was never checked.';
comment on column reporting.document_engagement.is_stale is 'True where its listing of users or the comments of one of its annotations in the catalog may be out of date.';
comment on column reporting.document_engagement.in_catalog is 'True while the catalog lists the document and its organization: only then is it checked.';
comment on column reporting.document_engagement.stale_annotations is 'How many of its annotations in the catalog may be out of date, as reporting.freshness tells it.';
comment on column reporting.document_engagement.comments_not_in_catalog is 'How many of the comments are in annotations that left the catalog, and are no longer checked.';
