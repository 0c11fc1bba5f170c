-- Up Migration
-- One definition of when a scope was last checked well, whether it is stale, and of what is in the catalog. Everything that
-- tells any of it reads it here: rows in the views of schema collab, totals in collab_store.checks. And of whose removal is
-- disputed.

-- What words mean in all that is reported, in one row that every process and every query reads.
create table collab_store.definitions (
  only_row boolean primary key default true check (only_row),
  freshness_promise interval not null default '26 hours' check (freshness_promise > interval '0'),
  schedule_time_zone text not null default 'UTC' check (timestamptz 'epoch' at time zone schedule_time_zone is not null),
  days_without_run smallint[] not null default '{}',
  schedule text,
  schedule_since timestamptz,
  next_due_at timestamptz,
  late_after interval not null default '1 hour',
  worker_left_at timestamptz,
  written_member text,
  written_members_before text[],
  report_time_zone text not null default 'UTC' check (timestamptz 'epoch' at time zone report_time_zone is not null),
  -- A run that is stopped since the service refuses key or token looks at nothing: all that it was to look at may be out of
  -- date, as where each call failed. One time says it for every scope: to write it on each would be a write a scope for a
  -- night in which nothing was learnt. What is checked well afterwards is checked later than that, so nothing takes it back.
  looks_failed_at timestamptz,
  refresh_budget double precision check (refresh_budget > 0),
  change_target interval not null default '1 hour' check (change_target > interval '0')
);
comment on table collab_store.definitions is 'What the words of reports mean here. migrate takes it from the settings; a worker, run or serve with other settings does not start.';
comment on column collab_store.definitions.only_row is 'There is just one row.';
comment on column collab_store.definitions.freshness_promise is 'FRESHNESS_PROMISE: every scope of the catalog is checked well at least so often.';
comment on column collab_store.definitions.schedule_time_zone is 'Time zone of the nightly schedule, as workers and the command schedule last knew it: its days are those of days_without_run.';
comment on column collab_store.definitions.days_without_run is 'Days of the week (1 Monday to 7 Sunday) on which the nightly schedule never starts a run: they do not count against the promise.';
comment on column collab_store.definitions.schedule is 'The nightly schedule that holds, as workers and the command schedule last knew it: cron expression and time zone; null where there is none.';
comment on column collab_store.definitions.schedule_since is 'Since when the schedule is as it is: nights before were not missed.';
comment on column collab_store.definitions.next_due_at is 'When the nightly run is due next; in the past where no worker is alive to note the one after it. Null where none is scheduled.';
comment on column collab_store.definitions.late_after is 'NIGHTLY_LATE_AFTER: how much later than it was due a nightly run may start, or than usual it may end.';
comment on column collab_store.definitions.worker_left_at is 'When a worker last stopped by itself.';
comment on column collab_store.definitions.written_member is 'COMMENT_WRITTEN_MEMBER: the member of a comment that says when it was written, names with dots between; null where none does.';
comment on column collab_store.definitions.written_members_before is 'Not null while stored comments are still to be looked at for when they were written, and on which day: the members by which some may have their time. `migrate` does it.';
comment on column collab_store.definitions.report_time_zone is 'REPORT_TZ: time zone of the days and weeks of reports.';
comment on column collab_store.definitions.looks_failed_at is 'When the last run of everything began that was given up, as where the service refuses key or token: what was last checked well before then may be out of date. Null where there was none.';
comment on column collab_store.definitions.refresh_budget is 'REFRESH_BUDGET, in calls a second of all processes together; null where nothing is refreshed between runs.';
comment on column collab_store.definitions.change_target is 'CHANGE_TARGET: within which a change should be seen. It is reported, and decides nothing.';
insert into collab_store.definitions default values;

-- Counted back from now over the days that count, in the time zone of the schedule: four weeks hold two days of any schedule.
create view collab_store.promise as
select p.freshness_promise, greatest(p.kept_since, p.looks_failed_at) as stale_before, p.kept_since
from (
  select d.freshness_promise, d.looks_failed_at, least(now() - d.freshness_promise, w.since) as kept_since
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
  ) w on cardinality(d.days_without_run) > 0
) p;
comment on view collab_store.promise is 'The freshness promise of this moment. A promise of less than two days counts only days of the week on which the schedule starts runs, a longer one counts every day and two of those.';
comment on column collab_store.promise.freshness_promise is 'As in definitions.';
comment on column collab_store.promise.stale_before is 'What was last checked well before this time is stale: longer ago than promised, or before a run of everything that was given up.';
comment on column collab_store.promise.kept_since is 'What was last checked well before this time breaks the promise.';

create function collab_store.last_good_check(own_checked_at timestamptz, batch_checked_at timestamptz) returns timestamptz
language sql immutable parallel safe
return case when own_checked_at is null then batch_checked_at else nullif(own_checked_at, '-infinity') end;
comment on function collab_store.last_good_check(timestamptz, timestamptz) is 'When the last good check of a scope began: by its own time where it differs from its batch, else by the batch''s. Null where there was none.';

create function collab_store.is_stale(checked_at timestamptz, failing_since timestamptz, stale_before timestamptz) returns boolean
language sql immutable parallel safe
return failing_since is not null or checked_at is null or checked_at < stale_before;
comment on function collab_store.is_stale(timestamptz, timestamptz, timestamptz) is 'Whether what is stored of a scope may be out of date: its last try failed, it was never checked well, or longer ago than promised.';

-- For totals: a row a batch for the scopes that its check holds for, and a row for each group of others with equal times.
-- Scopes that failed are never swept, so that they are counted from their index alone.
create view collab_store.checks as
with others as (
  select batch_key, own_checked_at as checked_at, failing_since, count(*) as scopes
  from collab_store.user_groups
  where own_checked_at is not null and active
  group by 1, 2, 3
  union all
  select batch_key, own_checked_at, failing_since, count(*)
  from collab_store.documents
  where own_checked_at is not null and active
  group by 1, 2, 3
  union all
  select batch_key, own_checked_at, failing_since, count(*)
  from collab_store.annotations
  where own_checked_at is not null and active and failing_since is not null
  group by 1, 2, 3
  union all
  select x.batch_key, greatest(x.own_checked_at, w.swept_at), null, count(*)
  from collab_store.annotations x
  left join collab_store.swept_threads w using (annotation_key)
  where x.own_checked_at is not null and x.active and x.failing_since is null
  group by 1, 2
  union all
  select x.batch_key, w.swept_at, null, count(*)
  from collab_store.swept_threads w
  join collab_store.annotations x using (annotation_key)
  join collab_store.batches b using (batch_key)
  where x.own_checked_at is null and x.active and w.swept_at > b.checked_at
  group by 1, 2
  union all
  select b.batch_key, o.own_checked_at, o.failing_since, 1::bigint
  from collab_store.organizations o
  join collab_store.batches b using (organization_key)
  where o.own_checked_at is not null and b.operation = 'users' and b.batch_no = 0
)
select c.organization_key, c.operation, c.scopes, c.checked_at, c.failing_since,
  collab_store.is_stale(c.checked_at, c.failing_since, (select stale_before from collab_store.promise)) as is_stale,
  coalesce(coalesce(c.checked_at, c.failing_since) < (select kept_since from collab_store.promise), false) as is_overdue
from (
  select o.organization_key, b.operation, n.scopes, b.checked_at, null::timestamptz as failing_since
  from collab_store.organizations o
  join collab_store.batches b using (organization_key)
  left join (select batch_key, sum(scopes)::bigint as scopes from others group by 1) d using (batch_key)
  cross join lateral (select b.scopes - coalesce(d.scopes, 0) as scopes) n
  where o.active and n.scopes > 0
  union all
  select o.organization_key, b.operation, x.scopes, collab_store.last_good_check(x.checked_at, null), x.failing_since
  from others x
  join collab_store.batches b using (batch_key)
  join collab_store.organizations o using (organization_key)
  where o.active
) c;
comment on view collab_store.checks is 'The scopes of the catalog, counted: a row a batch for those that its check holds for, and a row for each group of others with equal times. The same as the scopes of reporting.freshness, for totals that must not read each of them.';
comment on column collab_store.checks.organization_key is 'The organization they belong to.';
comment on column collab_store.checks.operation is 'users: listings. comments: annotations.';
comment on column collab_store.checks.scopes is 'How many scopes the row stands for.';
comment on column collab_store.checks.checked_at is 'When their last good check began; null if there was none.';
comment on column collab_store.checks.failing_since is 'When a try first failed after that; null where the last try was good.';
comment on column collab_store.checks.is_stale is 'As in reporting.freshness.';
comment on column collab_store.checks.is_overdue is 'Last checked well, or failing without ever having been, since longer than promised: what people are notified of.';

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

-- A removal is disputed while it is held for a decision, and after it was refused until the answer changes. The marks of rows
-- come from here, so that no run writes them. One view a kind of listing, with a row a user: only then does PostgreSQL leave
-- the join out of a plan that asks for no mark. generate_series has it expect 1,000 users a removal instead of ten: for ten it
-- compares each member of a listing with each of these users, which takes minutes where both are 40,000.
create view collab_store.disputed_removals as
select kind, scope_key, organization_id, document_id, organization_user_group_id, missing_user_ids,
  case when resolved_at is null then at end as removal_held_since,
  case when is_standing then resolved_at end as removal_refused_at
from sync.held
where resolved_at is null or is_standing;
comment on view collab_store.disputed_removals is 'Removals that are held for a decision or were refused, one row each: the listing keeps users whom the last response did not contain.';
comment on column collab_store.disputed_removals.kind is 'Whose listing it is: organization, document or group.';
comment on column collab_store.disputed_removals.scope_key is 'Our key of the organization, document or user group.';
comment on column collab_store.disputed_removals.organization_id is 'The requested organization.';
comment on column collab_store.disputed_removals.document_id is 'The requested document; null if none.';
comment on column collab_store.disputed_removals.organization_user_group_id is 'The requested user group; null if none.';
comment on column collab_store.disputed_removals.missing_user_ids is 'Users who are missing from the response and stay in the listing.';
comment on column collab_store.disputed_removals.removal_held_since is 'When the response was first received; null once the removal was refused.';
comment on column collab_store.disputed_removals.removal_refused_at is 'When the removal was refused; null while it is held.';

create view collab_store.disputed_organization_users as
select r.scope_key as organization_key, m.user_id collate "C" as user_id, min(r.removal_held_since) as removal_held_since,
  max(r.removal_refused_at) as removal_refused_at
from collab_store.disputed_removals r
cross join rows from (unnest(r.missing_user_ids), generate_series(1, cardinality(r.missing_user_ids))) m (user_id, place)
where r.kind = 'organization'
group by 1, 2;
comment on view collab_store.disputed_organization_users is 'Users of disputed removals from listings of organizations. Key: organization_key, user_id.';
comment on column collab_store.disputed_organization_users.organization_key is 'Whose listing it is.';
comment on column collab_store.disputed_organization_users.user_id is 'A user whom the last response did not contain.';
comment on column collab_store.disputed_organization_users.removal_held_since is 'As in disputed_removals.';
comment on column collab_store.disputed_organization_users.removal_refused_at is 'As in disputed_removals.';

create view collab_store.disputed_document_users as
select r.scope_key as document_key, m.user_id collate "C" as user_id, min(r.removal_held_since) as removal_held_since,
  max(r.removal_refused_at) as removal_refused_at
from collab_store.disputed_removals r
cross join rows from (unnest(r.missing_user_ids), generate_series(1, cardinality(r.missing_user_ids))) m (user_id, place)
where r.kind = 'document'
group by 1, 2;
comment on view collab_store.disputed_document_users is 'Users of disputed removals from listings of documents. Key: document_key, user_id.';
comment on column collab_store.disputed_document_users.document_key is 'Whose listing it is.';
comment on column collab_store.disputed_document_users.user_id is 'A user whom the last response did not contain.';
comment on column collab_store.disputed_document_users.removal_held_since is 'As in disputed_removals.';
comment on column collab_store.disputed_document_users.removal_refused_at is 'As in disputed_removals.';

create view collab_store.disputed_user_group_members as
select r.scope_key as user_group_key, m.user_id collate "C" as user_id, min(r.removal_held_since) as removal_held_since,
  max(r.removal_refused_at) as removal_refused_at
from collab_store.disputed_removals r
cross join rows from (unnest(r.missing_user_ids), generate_series(1, cardinality(r.missing_user_ids))) m (user_id, place)
where r.kind = 'group'
group by 1, 2;
comment on view collab_store.disputed_user_group_members is 'Users of disputed removals from listings of user groups. Key: user_group_key, user_id.';
comment on column collab_store.disputed_user_group_members.user_group_key is 'Whose listing it is.';
comment on column collab_store.disputed_user_group_members.user_id is 'A user whom the last response did not contain.';
comment on column collab_store.disputed_user_group_members.removal_held_since is 'As in disputed_removals.';
comment on column collab_store.disputed_user_group_members.removal_refused_at is 'As in disputed_removals.';

create view collab_store.disputed_listings as
select kind, organization_id, document_id, organization_user_group_id, count(removal_held_since) > 0 as is_held,
  count(removal_refused_at) > 0 as is_refused
from collab_store.disputed_removals
group by 1, 2, 3, 4;
comment on view collab_store.disputed_listings is 'Listings with disputed removals, each once.';
comment on column collab_store.disputed_listings.kind is 'Whose listing it is: organization, document or group.';
comment on column collab_store.disputed_listings.organization_id is 'The requested organization.';
comment on column collab_store.disputed_listings.document_id is 'The requested document; null if none.';
comment on column collab_store.disputed_listings.organization_user_group_id is 'The requested user group; null if none.';
comment on column collab_store.disputed_listings.is_held is 'Whether removals are held for a decision.';
comment on column collab_store.disputed_listings.is_refused is 'Whether removals were refused, and the response has not changed since.';
