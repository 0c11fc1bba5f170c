-- Up Migration
-- One definition of when a scope was last checked well, whether it is stale, and of what is in the catalog. Everything that
-- tells any of it reads it here: rows in the views of schema collab, totals in collab_store.checks.

-- What words mean in all that is reported, in one row that every process and every query reads.
create table collab_store.definitions (
  only_row boolean primary key default true check (only_row),
  freshness_promise interval not null default '26 hours' check (freshness_promise > interval '0'),
  schedule_time_zone text not null default 'UTC' check (timestamptz 'epoch' at time zone schedule_time_zone is not null),
  days_without_run smallint[] not null default '{}'
);
comment on table collab_store.definitions is 'What the words of reports mean here. migrate takes it from the settings; a worker, run or serve with other settings does not start.';
comment on column collab_store.definitions.only_row is 'There is just one row.';
comment on column collab_store.definitions.freshness_promise is 'FRESHNESS_PROMISE: every scope of the catalog is checked well at least so often.';
comment on column collab_store.definitions.schedule_time_zone is 'Time zone of the nightly schedule, as workers and the command schedule last knew it: its days are those of days_without_run.';
comment on column collab_store.definitions.days_without_run is 'Days of the week (1 Monday to 7 Sunday) on which the nightly schedule never starts a run: they do not count against the promise.';
-- It holds nothing of an organization: whoever may read a view may know when a row is stale.
create policy everybody on collab_store.definitions using (true);
insert into collab_store.definitions default values;

-- Counted back from now over the days that count, in the time zone of the schedule: four weeks hold two days of any schedule.
create view collab_store.promise as
select d.freshness_promise, least(now() - d.freshness_promise, w.since) as stale_before
from collab_store.definitions d
left join lateral (
  select c.day_start + (c.counted - p.allowed) as since
  from (
    select n.day_start, sum(case when n.counts then n.day_end - n.day_start else interval '0' end) over (order by n.n) as counted, n.n
    from (
      select n, extract(isodow from t.local_day)::smallint <> all(d.days_without_run) as counts,
        t.local_day at time zone d.schedule_time_zone as day_start,
        least(now(), (t.local_day + interval '1 day') at time zone d.schedule_time_zone) as day_end
      from generate_series(0, 28) n
      cross join lateral (
        select date_trunc('day', now() at time zone d.schedule_time_zone) - make_interval(days => n) as local_day
      ) t
    ) n
  ) c
  cross join (select least(d.freshness_promise, interval '2 days') as allowed) p
  where c.counted >= p.allowed
  order by c.n
  limit 1
) w on cardinality(d.days_without_run) > 0;
comment on view collab_store.promise is 'The freshness promise of this moment. A promise of less than two days counts only days of the week on which the schedule starts runs, a longer one counts every day and two of those.';
comment on column collab_store.promise.freshness_promise is 'As in definitions.';
comment on column collab_store.promise.stale_before is 'What was last checked well before this time is stale.';

create function collab_store.last_good_check(own_checked_at timestamptz, batch_checked_at timestamptz) returns timestamptz
language sql immutable parallel safe
return case when own_checked_at is null then batch_checked_at else nullif(own_checked_at, '-infinity') end;
comment on function collab_store.last_good_check(timestamptz, timestamptz) is 'When the last good check of a scope began: by its own time where it differs from its batch, else by the batch''s. Null where there was none.';

create function collab_store.is_stale(checked_at timestamptz, failing_since timestamptz, stale_before timestamptz) returns boolean
language sql immutable parallel safe
return failing_since is not null or checked_at is null or checked_at < stale_before;
comment on function collab_store.is_stale(timestamptz, timestamptz, timestamptz) is 'Whether what is stored of a scope may be out of date: its last try failed, it was never checked well, or longer ago than promised.';

-- On the scope, and not in sync.failures, which `prune` empties. Written when a good scope fails and when a failing one is
-- good again: a night in which nothing changes of that writes nothing.
alter table collab_store.organizations add column failing_since timestamptz;
alter table collab_store.user_groups add column failing_since timestamptz;
alter table collab_store.documents add column failing_since timestamptz;
alter table collab_store.annotations add column failing_since timestamptz;
comment on column collab_store.organizations.failing_since is 'When a try for its listing first failed after the last good one; null where the last try was good. Never null alone: own_checked_at is then set too.';
comment on column collab_store.user_groups.failing_since is 'As in organizations.';
comment on column collab_store.documents.failing_since is 'As in organizations.';
comment on column collab_store.annotations.failing_since is 'As in organizations.';

create temp table failing on commit drop as
select f.batch_key, f.scope_no, min(f.at) filter (where f.at > coalesce(s.checked_at, '-infinity')) as since
from sync.failures f
join (
  select x.batch_key, x.scope_no, collab_store.last_good_check(x.own_checked_at, b.checked_at) as checked_at
  from (
    select batch_key, scope_no, own_checked_at from collab_store.user_groups
    union all
    select batch_key, scope_no, own_checked_at from collab_store.documents
    union all
    select batch_key, scope_no, own_checked_at from collab_store.annotations
    union all
    select b.batch_key, 0, o.own_checked_at
    from collab_store.organizations o
    join collab_store.batches b using (organization_key)
    where b.operation = 'users' and b.batch_no = 0
  ) x
  join collab_store.batches b using (batch_key)
) s using (batch_key, scope_no)
group by 1, 2;
delete from failing where since is null;
update collab_store.organizations x
set own_checked_at = coalesce(x.own_checked_at, b.checked_at, '-infinity'), failing_since = f.since
from failing f
join collab_store.batches b using (batch_key)
where b.operation = 'users' and b.batch_no = 0 and f.scope_no = 0 and x.organization_key = b.organization_key;
update collab_store.user_groups x
set own_checked_at = coalesce(x.own_checked_at, b.checked_at, '-infinity'), failing_since = f.since
from failing f
join collab_store.batches b using (batch_key)
where x.batch_key = f.batch_key and x.scope_no = f.scope_no;
update collab_store.documents x
set own_checked_at = coalesce(x.own_checked_at, b.checked_at, '-infinity'), failing_since = f.since
from failing f
join collab_store.batches b using (batch_key)
where x.batch_key = f.batch_key and x.scope_no = f.scope_no;
update collab_store.annotations x
set own_checked_at = coalesce(x.own_checked_at, b.checked_at, '-infinity'), failing_since = f.since
from failing f
join collab_store.batches b using (batch_key)
where x.batch_key = f.batch_key and x.scope_no = f.scope_no;

-- Scopes that differ from their batch are few: totals come from the batches and from these.
create index user_groups_own_check on collab_store.user_groups (batch_key) include (own_checked_at, failing_since)
where own_checked_at is not null and active;
create index documents_own_check on collab_store.documents (batch_key) include (own_checked_at, failing_since)
where own_checked_at is not null and active;
create index annotations_own_check on collab_store.annotations (batch_key) include (own_checked_at, failing_since)
where own_checked_at is not null and active;
comment on index collab_store.user_groups_own_check is 'Scopes whose last good check is not their batch''s.';
comment on index collab_store.documents_own_check is 'Scopes whose last good check is not their batch''s.';
comment on index collab_store.annotations_own_check is 'Scopes whose last good check is not their batch''s.';
-- What fails stands with the scope now.
drop index if exists sync.failures_of_organization_at;

-- For totals: a few rows a thousand scopes, whatever the catalog's size.
create view collab_store.checks as
select c.organization_key, c.operation, c.scopes, c.checked_at, c.failing_since,
  collab_store.is_stale(c.checked_at, c.failing_since, (select stale_before from collab_store.promise)) as is_stale,
  coalesce(coalesce(c.checked_at, c.failing_since) < (select stale_before from collab_store.promise), false) as is_overdue
from (
  select o.organization_key, b.operation, n.scopes, b.checked_at, null::timestamptz as failing_since
  from collab_store.organizations o
  join collab_store.batches b using (organization_key)
  left join (
    select x.batch_key, count(*) as scopes
    from (
      select batch_key from collab_store.user_groups where own_checked_at is not null and active
      union all
      select batch_key from collab_store.documents where own_checked_at is not null and active
      union all
      select batch_key from collab_store.annotations where own_checked_at is not null and active
    ) x
    group by x.batch_key
  ) d using (batch_key)
  cross join lateral (
    select b.scopes - coalesce(d.scopes, 0)
      - (b.operation = 'users' and b.batch_no = 0 and o.own_checked_at is not null)::int as scopes
  ) n
  where o.active and n.scopes > 0
  union all
  select o.organization_key, 'users', 1, collab_store.last_good_check(o.own_checked_at, null), o.failing_since
  from collab_store.organizations o
  where o.active and o.own_checked_at is not null
  union all
  select o.organization_key, b.operation, 1, collab_store.last_good_check(x.own_checked_at, null), x.failing_since
  from collab_store.organizations o
  join collab_store.batches b using (organization_key)
  join collab_store.user_groups x using (batch_key)
  where o.active and x.active and x.own_checked_at is not null
  union all
  select o.organization_key, b.operation, 1, collab_store.last_good_check(x.own_checked_at, null), x.failing_since
  from collab_store.organizations o
  join collab_store.batches b using (organization_key)
  join collab_store.documents x using (batch_key)
  where o.active and x.active and x.own_checked_at is not null
  union all
  select o.organization_key, b.operation, 1, collab_store.last_good_check(x.own_checked_at, null), x.failing_since
  from collab_store.organizations o
  join collab_store.batches b using (organization_key)
  join collab_store.annotations x using (batch_key)
  where o.active and x.active and x.own_checked_at is not null
) c;
comment on view collab_store.checks is 'The scopes of the catalog, counted: a row a batch for those that its check holds for, and a row for each that differs. The same as the scopes of reporting.freshness, for totals that must not read each of them.';
comment on column collab_store.checks.organization_key is 'The organization they belong to.';
comment on column collab_store.checks.operation is 'users: listings. comments: annotations.';
comment on column collab_store.checks.scopes is 'How many scopes the row stands for.';
comment on column collab_store.checks.checked_at is 'When their last good check began; null if there was none.';
comment on column collab_store.checks.failing_since is 'When a try first failed after that; null where the last try was good.';
comment on column collab_store.checks.is_stale is 'As in reporting.freshness.';
comment on column collab_store.checks.is_overdue is 'Last checked well, or failing without ever having been, since longer than promised: what people are notified of.';

create or replace view collab.organizations as
select x.organization_id, x.active,
  collab_store.last_good_check(x.own_checked_at, b.checked_at) as checked_at,
  x.failing_since,
  collab_store.is_stale(collab_store.last_good_check(x.own_checked_at, b.checked_at), x.failing_since,
    (select stale_before from collab_store.promise)) as is_stale,
  x.active as in_catalog
from collab_store.organizations x
left join collab_store.batches b
  on b.organization_key = x.organization_key and b.operation = 'users' and b.batch_no = 0;
comment on column collab.organizations.failing_since is 'When a try for its own listing first failed after the last good one (our clock); null where the last try was good.';
comment on column collab.organizations.is_stale is 'True where its own listing may be out of date: its last try failed, it was never checked well, or longer ago than FRESHNESS_PROMISE allows.';
comment on column collab.organizations.in_catalog is 'True while the catalog lists it: only then is it checked.';

create or replace view collab.user_groups as
select o.organization_id, x.organization_user_group_id, x.active,
  collab_store.last_good_check(x.own_checked_at, b.checked_at) as checked_at,
  x.failing_since,
  collab_store.is_stale(collab_store.last_good_check(x.own_checked_at, b.checked_at), x.failing_since,
    (select stale_before from collab_store.promise)) as is_stale,
  x.active and o.active as in_catalog
from collab_store.user_groups x
join collab_store.organizations o using (organization_key)
join collab_store.batches b using (batch_key);
comment on column collab.user_groups.failing_since is 'When a try for its listing first failed after the last good one (our clock); null where the last try was good.';
comment on column collab.user_groups.is_stale is 'True where its listing may be out of date: its last try failed, it was never checked well, or longer ago than FRESHNESS_PROMISE allows.';
comment on column collab.user_groups.in_catalog is 'True while the catalog lists it and its organization: only then is it checked.';

create or replace view collab.documents as
select o.organization_id, x.document_id, x.active,
  collab_store.last_good_check(x.own_checked_at, b.checked_at) as checked_at,
  x.failing_since,
  collab_store.is_stale(collab_store.last_good_check(x.own_checked_at, b.checked_at), x.failing_since,
    (select stale_before from collab_store.promise)) as is_stale,
  x.active and o.active as in_catalog
from collab_store.documents x
join collab_store.organizations o using (organization_key)
join collab_store.batches b using (batch_key);
comment on column collab.documents.failing_since is 'When a try for its listing of users first failed after the last good one (our clock); null where the last try was good.';
comment on column collab.documents.is_stale is 'True where its listing of users may be out of date: its last try failed, it was never checked well, or longer ago than FRESHNESS_PROMISE allows.';
comment on column collab.documents.in_catalog is 'True while the catalog lists it and its organization: only then is it checked.';

create or replace view collab.annotations as
select o.organization_id, d.document_id, x.annotation_id, x.active, x.comment_count,
  collab_store.last_good_check(x.own_checked_at, b.checked_at) as checked_at,
  x.changed_at,
  x.failing_since,
  collab_store.is_stale(collab_store.last_good_check(x.own_checked_at, b.checked_at), x.failing_since,
    (select stale_before from collab_store.promise)) as is_stale,
  x.active and d.active and o.active as in_catalog
from collab_store.annotations x
join collab_store.documents d using (document_key)
join collab_store.organizations o using (organization_key)
join collab_store.batches b on b.batch_key = x.batch_key;
comment on column collab.annotations.failing_since is 'When a try for its comments first failed after the last good one (our clock); null where the last try was good.';
comment on column collab.annotations.is_stale is 'True where its comments may be out of date: its last try failed, it was never checked well, or longer ago than FRESHNESS_PROMISE allows.';
comment on column collab.annotations.in_catalog is 'True while the catalog lists it with its document and organization: only then is it checked.';

create or replace view reporting.freshness as
select 'organization' as level, x.organization_id, null::text as document_id, null::text as annotation_id,
  null::text as organization_user_group_id, x.checked_at, now() - x.checked_at as age, x.failing_since, x.is_stale
from collab.organizations x where x.in_catalog
union all
select 'user group', x.organization_id, null, null, x.organization_user_group_id, x.checked_at, now() - x.checked_at,
  x.failing_since, x.is_stale
from collab.user_groups x where x.in_catalog
union all
select 'document', x.organization_id, x.document_id, null, null, x.checked_at, now() - x.checked_at, x.failing_since, x.is_stale
from collab.documents x where x.in_catalog
union all
select 'annotation', x.organization_id, x.document_id, x.annotation_id, null, x.checked_at, now() - x.checked_at,
  x.failing_since, x.is_stale
from collab.annotations x where x.in_catalog;
comment on view reporting.freshness is 'Age of the last good check, one row an organization, user group, document and annotation of the catalog.';
comment on column reporting.freshness.failing_since is 'When a try first failed after the last good one (our clock); null where the last try was good.';
comment on column reporting.freshness.is_stale is 'True where what is stored of it may be out of date: its last try failed, it was never checked well, or longer ago than FRESHNESS_PROMISE allows.';

create or replace view reporting.coverage as
select s.organization_id, s.level, count(*) filter (where s.in_catalog) as known,
  count(*) filter (where s.in_catalog and not s.is_stale) as fresh,
  count(*) filter (where s.in_catalog and s.is_stale and s.checked_at is not null) as stale,
  count(*) filter (where s.in_catalog and s.checked_at is null) as never_synced,
  count(*) filter (where s.in_catalog and s.is_failing) as failing,
  count(*) filter (where s.in_catalog and s.is_held) as held,
  count(*) filter (where not s.in_catalog) as not_in_catalog
from (
  select x.organization_id, 'organization' as level, x.in_catalog, x.checked_at, x.is_stale, x.failing_since is not null as is_failing,
    exists (select from sync.held h
      where h.kind = 'organization' and h.organization_id = x.organization_id and h.resolved_at is null) as is_held
  from collab.organizations x
  union all
  select x.organization_id, 'user group', x.in_catalog, x.checked_at, x.is_stale, x.failing_since is not null,
    exists (select from sync.held h
      where h.kind = 'group' and h.organization_id = x.organization_id
        and h.organization_user_group_id = x.organization_user_group_id and h.resolved_at is null)
  from collab.user_groups x
  union all
  select x.organization_id, 'document', x.in_catalog, x.checked_at, x.is_stale, x.failing_since is not null,
    exists (select from sync.held h
      where h.kind = 'document' and h.organization_id = x.organization_id and h.document_id = x.document_id and h.resolved_at is null)
  from collab.documents x
  union all
  select x.organization_id, 'annotation', x.in_catalog, x.checked_at, x.is_stale, x.failing_since is not null, false
  from collab.annotations x
  union all
  -- People are checked by their organization's listing, which is its catalog of people.
  select x.organization_id, 'user', x.listed and o.in_catalog, o.checked_at, o.is_stale, false, false
  from collab.users x
  join collab.organizations o using (organization_id)
) s
group by 1, 2;
comment on column reporting.coverage.fresh is 'Checked well as lately as FRESHNESS_PROMISE asks, and the last try did not fail.';
comment on column reporting.coverage.stale is 'Last good check is older than FRESHNESS_PROMISE allows, or the last try failed.';
comment on column reporting.coverage.never_synced is 'No good check yet: stale as well, and counted here only.';
comment on column reporting.coverage.failing is 'The last try failed; also counted as stale or never_synced.';

-- Rows beneath a thread carry its marks. Joined from outside, so that the batches leave the plan where nobody asks for them.

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
  a.active and d.active and o.active as in_catalog
from collab_store.comments c
join collab_store.annotations a using (annotation_key)
join collab_store.documents d using (document_key)
join collab_store.organizations o on o.organization_key = d.organization_key
left join collab_store.batches b on b.batch_key = a.batch_key;

comment on column collab.comments.checked_at is 'When the last good reading of the comments of its annotation began (our clock); null if there was none.';
comment on column collab.comments.is_stale is 'True where the comments of its annotation may be out of date: the last try failed, or the last good one is longer ago than FRESHNESS_PROMISE allows.';
comment on column collab.comments.in_catalog is 'True while the catalog lists its annotation: only then is it checked.';

create or replace view reporting.comments as
select o.organization_id, d.document_id, a.annotation_id, c.comment_id,
  c.author_user_id,
  coalesce(u.name, c.author_name) as author_name,
  coalesce(u.email, c.author_email) as author_email,
  c.comment_text, c.status, c.type, c.last_updated, c.first_seen_at, c.changed_at,
  collab_store.last_good_check(a.own_checked_at, b.checked_at) as checked_at,
  collab_store.is_stale(collab_store.last_good_check(a.own_checked_at, b.checked_at), a.failing_since,
    (select stale_before from collab_store.promise)) as is_stale,
  a.active and d.active and o.active as in_catalog
from collab_store.comments c
left join collab_store.annotations a using (annotation_key)
left join collab_store.documents d on d.document_key = a.document_key and d.organization_key = c.organization_key
left join collab_store.organizations o on o.organization_key = c.organization_key
left join collab_store.users u on u.organization_key = c.organization_key and u.user_id = c.author_user_id
left join collab_store.batches b on b.batch_key = a.batch_key
where c.deleted_at is null;

comment on column reporting.comments.checked_at is 'When the last good reading of the comments of its annotation began (our clock); null if there was none.';
comment on column reporting.comments.is_stale is 'True where the comments of its annotation may be out of date: the last try failed, or the last good one is longer ago than FRESHNESS_PROMISE allows.';
comment on column reporting.comments.in_catalog is 'True while the catalog lists its annotation: only then is it checked.';

create or replace view reporting.comments_with_deleted as
select o.organization_id, d.document_id, a.annotation_id, c.comment_id, c.author_user_id,
  coalesce(u.name, c.author_name) as author_name, coalesce(u.email, c.author_email) as author_email,
  c.comment_text, c.status, c.type, c.last_updated, c.first_seen_at, c.changed_at,
  c.deleted_at is not null as is_deleted, c.deleted_at,
  collab_store.last_good_check(a.own_checked_at, b.checked_at) as checked_at,
  collab_store.is_stale(collab_store.last_good_check(a.own_checked_at, b.checked_at), a.failing_since,
    (select stale_before from collab_store.promise)) as is_stale,
  a.active and d.active and o.active as in_catalog
from collab_store.comments c
left join collab_store.annotations a using (annotation_key)
left join collab_store.documents d on d.document_key = a.document_key and d.organization_key = c.organization_key
left join collab_store.organizations o on o.organization_key = c.organization_key
left join collab_store.users u on u.organization_key = c.organization_key and u.user_id = c.author_user_id
left join collab_store.batches b on b.batch_key = a.batch_key;

comment on column reporting.comments_with_deleted.checked_at is 'When the last good reading of the comments of its annotation began (our clock); null if there was none.';
comment on column reporting.comments_with_deleted.is_stale is 'True where the comments of its annotation may be out of date: the last try failed, or the last good one is longer ago than FRESHNESS_PROMISE allows.';
comment on column reporting.comments_with_deleted.in_catalog is 'True while the catalog lists its annotation: only then is it checked.';

create or replace view reporting.thread_summary as
select o.organization_id, d.document_id, a.annotation_id, a.comment_count as comments, cardinality(a.authors) as people,
  a.first_comment_at, a.last_comment_at, a.first_answer_at,
  round(extract(epoch from a.first_answer_at - a.first_comment_at) / 3600, 2) as hours_to_first_answer,
  round(extract(epoch from now() - a.last_comment_at) / 3600, 2) as hours_since_last_comment,
  a.changed_at,
  collab_store.last_good_check(a.own_checked_at, b.checked_at) as checked_at,
  collab_store.is_stale(collab_store.last_good_check(a.own_checked_at, b.checked_at), a.failing_since,
    (select stale_before from collab_store.promise)) as is_stale,
  a.active and d.active and o.active as in_catalog
from collab_store.annotations a
join collab_store.documents d using (document_key)
join collab_store.organizations o using (organization_key)
left join collab_store.batches b on b.batch_key = a.batch_key;

comment on column reporting.thread_summary.checked_at is 'When the last good reading of the comments of the annotation began (our clock); null if there was none.';
comment on column reporting.thread_summary.is_stale is 'True where the comments of the annotation may be out of date: the last try failed, or the last good one is longer ago than FRESHNESS_PROMISE allows.';
comment on column reporting.thread_summary.in_catalog is 'True while the catalog lists the annotation: only then is it checked.';
