-- The single definition of the last successful check of a scope, of staleness, and of what is in the catalog. Rows of
-- the views of schema collab and totals in collab_store.checks read it. Also defines disputed removals.

-- Definitions for all reports, in one row that every process and query reads.
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
  privacy_email text not null default 'keep' check (privacy_email in ('keep', 'hash', 'drop')),
  privacy_raw text not null default 'keep' check (privacy_raw in ('keep', 'drop')),
  privacy_exclude text,
  -- A run that stops because the service refuses key or token checks nothing. All of its scopes may then be out of
  -- date, as if each call had failed. One time records this for all scopes, because writing it to each scope would be
  -- a write per scope in a night that returned no data. Later successful checks are newer than that time, so nothing
  -- resets it.
  looks_failed_at timestamptz,
  refresh_budget double precision check (refresh_budget > 0),
  change_target interval not null default '1 hour' check (change_target > interval '0')
);
comment on table collab_store.definitions is 'Definitions for reports, and what is not stored. migrate takes them from the settings; a worker, run or serve with other settings does not start.';
comment on column collab_store.definitions.only_row is 'There is just one row.';
comment on column collab_store.definitions.freshness_promise is 'FRESHNESS_PROMISE: maximum age of the last successful check of every scope in the catalog.';
comment on column collab_store.definitions.schedule_time_zone is 'Time zone of the nightly schedule, as last known to workers and the command schedule. days_without_run uses its days.';
comment on column collab_store.definitions.days_without_run is 'Days of the week (1 Monday to 7 Sunday) on which the nightly schedule starts no run. A short promise does not count them: see promise.';
comment on column collab_store.definitions.schedule is 'Current nightly schedule (cron expression and time zone), as last known to workers and the command schedule; null if there is none.';
comment on column collab_store.definitions.schedule_since is 'When the current schedule was set. Earlier nights are not reported as missed.';
comment on column collab_store.definitions.next_due_at is 'When the nightly run is due next; in the past if no worker is running to update it; null if none is scheduled.';
comment on column collab_store.definitions.late_after is 'NIGHTLY_LATE_AFTER: how much later than due a nightly run may start, or than usual it may finish.';
comment on column collab_store.definitions.worker_left_at is 'When a worker last stopped normally.';
comment on column collab_store.definitions.written_member is 'COMMENT_WRITTEN_MEMBER: path of the comment field with the writing time, joined by dots; null if there is none.';
comment on column collab_store.definitions.written_members_before is 'Fields from which stored comments may have their writing time, while `migrate` still has to recompute it; otherwise null.';
comment on column collab_store.definitions.report_time_zone is 'REPORT_TZ: time zone of days and weeks in reports.';
comment on column collab_store.definitions.privacy_email is 'PRIVACY_EMAIL: how e-mail addresses are stored.';
comment on column collab_store.definitions.privacy_raw is 'PRIVACY_RAW: whether fields that the service does not document are stored.';
comment on column collab_store.definitions.privacy_exclude is 'PRIVACY_EXCLUDE: paths of fields that are not stored, separated by spaces; null if there are none.';
comment on column collab_store.definitions.looks_failed_at is 'Start of the last full run that was stopped, for example because the service refused key or token. Data last checked before then may be out of date. Null if there was none.';
comment on column collab_store.definitions.refresh_budget is 'REFRESH_BUDGET in calls per second of all processes together; null if continuous refresh is off.';
comment on column collab_store.definitions.change_target is 'CHANGE_TARGET: time within which a change should be found. Only reported.';
insert into collab_store.definitions default values;

-- Counted back from now over the days that count, in the time zone of the schedule. Four weeks contain two days of
-- any schedule.
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
comment on view collab_store.promise is 'The current limits of FRESHNESS_PROMISE. A promise of less than two days counts only weekdays on which the schedule starts runs. A longer promise counts all days, and covers at least two such days.';
comment on column collab_store.promise.freshness_promise is 'As in definitions.';
comment on column collab_store.promise.stale_before is 'Data last checked successfully before this time is stale: it is older than promised, or older than a full run that was stopped.';
comment on column collab_store.promise.kept_since is 'Data last checked successfully before this time breaks the promise.';

create function collab_store.last_good_check(own_checked_at timestamptz, batch_checked_at timestamptz) returns timestamptz
language sql immutable parallel safe
return case when own_checked_at is null then batch_checked_at else nullif(own_checked_at, '-infinity') end;
comment on function collab_store.last_good_check(timestamptz, timestamptz) is 'Returns the start of the last successful check of a scope: its own time if it differs from its batch, otherwise the batch''s. Null if there was none.';

create function collab_store.is_stale(checked_at timestamptz, failing_since timestamptz, stale_before timestamptz) returns boolean
language sql immutable parallel safe
return failing_since is not null or checked_at is null or checked_at < stale_before;
comment on function collab_store.is_stale(timestamptz, timestamptz, timestamptz) is 'Returns whether the stored data of a scope may be out of date: the last check failed, no check succeeded, or the last successful one is too old.';

-- Joined instead of listings. These are outer joins, so that PostgreSQL drops listings and batches from plans that need no
-- column of theirs.
create view collab_store.checked_listings as
select l.batch_key, l.kind, l.scope_key, l.operation, l.active, b.organization_key,
  collab_store.last_good_check(l.own_checked_at, b.checked_at) as checked_at, l.failing_since,
  collab_store.is_stale(collab_store.last_good_check(l.own_checked_at, b.checked_at), l.failing_since,
    (select stale_before from collab_store.promise)) as is_stale
from collab_store.listings l
left join collab_store.batches b using (batch_key);
comment on view collab_store.checked_listings is 'Listings with their last successful check. Key: kind, scope_key, operation.';
comment on column collab_store.checked_listings.batch_key is 'As in listings.';
comment on column collab_store.checked_listings.kind is 'As in listings.';
comment on column collab_store.checked_listings.scope_key is 'As in listings.';
comment on column collab_store.checked_listings.operation is 'As in listings.';
comment on column collab_store.checked_listings.active is 'As in listings.';
comment on column collab_store.checked_listings.organization_key is 'The organization of the listing.';
comment on column collab_store.checked_listings.checked_at is 'Start of the last successful check; null if there was none.';
comment on column collab_store.checked_listings.failing_since is 'As in listings.';
comment on column collab_store.checked_listings.is_stale is 'True if what is stored of the listing may be out of date.';

-- For totals: one row per batch for the scopes with the batch's time, and one row per group of other scopes with
-- equal times. Failing scopes are in no pass of refresh, so they are counted from their index alone. A pass changes no
-- count of a batch that is not late, so the passes of other batches are not read. Until a pass is complete, no batch is
-- read for them either. The limits are a CTE, because PostgreSQL plans each reference to the view promise separately.
create view collab_store.checks as
with limits as materialized (
  select stale_before, kept_since from collab_store.promise
), late as materialized (
  select batch_key, checked_at
  from collab_store.batches
  where exists (select from sync.refresh_passes where last_full_pass is not null)
    and checked_at < (select stale_before from limits)
), passes as materialized (
  select batch_key, annotation_key, max(p.pass_started_at) as pass_started_at
  from late b
  join collab_store.thread_passes p using (batch_key)
  where p.pass_started_at > b.checked_at
  group by 1, 2
), own as materialized (
  select annotation_key, batch_key, own_checked_at, failing_since
  from collab_store.annotations
  where own_checked_at is not null and active
), others as (
  select batch_key, own_checked_at as checked_at, failing_since, count(*) as scopes
  from collab_store.listings
  where own_checked_at is not null and active
  group by 1, 2, 3
  union all
  select x.batch_key, greatest(x.own_checked_at, case when x.own_checked_at < (select stale_before from limits)
      then (select w.pass_started_at from collab_store.pass_checks w where w.annotation_key = x.annotation_key) end),
    x.failing_since, count(*)
  from own x
  group by 1, 2, 3
  union all
  select w.batch_key, w.pass_started_at, null, count(*)
  from passes w
  where w.annotation_key not in (select annotation_key from own)
    and w.annotation_key not in (select annotation_key from collab_store.annotations where not active)
  group by 1, 2
)
select c.organization_key, c.operation, c.scopes, c.checked_at, c.failing_since,
  collab_store.is_stale(c.checked_at, c.failing_since, (select stale_before from limits)) as is_stale,
  coalesce(coalesce(c.checked_at, c.failing_since) < (select kept_since from limits), false) as is_overdue
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
comment on view collab_store.checks is 'Counts of the scopes of the catalog: one row per batch for the scopes with the batch''s time, and one row per group of other scopes with equal times. Same data as reporting.freshness, for totals that must not read each scope.';
comment on column collab_store.checks.organization_key is 'The organization of the scopes.';
comment on column collab_store.checks.operation is 'users: listings. comments: annotations.';
comment on column collab_store.checks.scopes is 'Number of scopes in the row.';
comment on column collab_store.checks.checked_at is 'Start of their last successful check; null if there was none. Passes of refresh count only where the batch is late, because is_stale and is_overdue depend on no others.';
comment on column collab_store.checks.failing_since is 'When a check first failed after that; null if the last check succeeded.';
comment on column collab_store.checks.is_stale is 'As in reporting.freshness.';
comment on column collab_store.checks.is_overdue is 'True if the last successful check is older than promised, or a scope without one has been failing for longer than promised. Notifications report it.';

create view collab_store.organization_checks as
select organization_key,
  case when bool_and(checked_at is not null) filter (where operation = 'comments')
    then min(checked_at) filter (where operation = 'comments') end as annotations_checked_at,
  coalesce(sum(scopes) filter (where is_stale and operation = 'comments'), 0)::bigint as stale_annotations,
  coalesce(sum(scopes) filter (where is_stale and operation <> 'comments'), 0)::bigint as stale_listings
from collab_store.checks
group by 1;
comment on view collab_store.organization_checks is 'Checks of each organization in the catalog, for totals. Computed once per query, whatever its filter.';
comment on column collab_store.organization_checks.organization_key is 'The organization with these checks.';
comment on column collab_store.organization_checks.annotations_checked_at is 'The oldest of the last successful checks of its annotations; null if one was never checked.';
comment on column collab_store.organization_checks.stale_annotations is 'Annotations of the organization that may be out of date.';
comment on column collab_store.organization_checks.stale_listings is 'Listings of the organization (its own and those of its documents and user groups) that may be out of date.';

-- A removal is disputed while it is pending approval, and after a refusal until the response changes. The views
-- compute the marks of rows from here, so that no run has to write them. There is one view per kind of listing with
-- one row per user, because only then does PostgreSQL drop the join from a plan that needs no mark. generate_series
-- makes the planner expect 1,000 users per removal instead of ten. With ten it compares each member of a listing with
-- each of these users, which takes minutes if both are 40,000.
create view collab_store.disputed_removals as
select batch_key, operation, kind, scope_key, organization_id, document_id, organization_user_group_id, missing_user_ids,
  case when resolved_at is null then at end as removal_held_since,
  case when is_standing then resolved_at end as removal_refused_at
from sync.held
where resolved_at is null or is_standing;
comment on view collab_store.disputed_removals is 'Removals that are pending approval or were refused: users whom the last response did not contain and who stay in the listing. One row per removal.';
comment on column collab_store.disputed_removals.batch_key is 'The batch of the listing.';
comment on column collab_store.disputed_removals.operation is 'The operation of the listing.';
comment on column collab_store.disputed_removals.kind is 'Whose listing it is: organization, document or group.';
comment on column collab_store.disputed_removals.scope_key is 'Our key of the organization, document or user group.';
comment on column collab_store.disputed_removals.organization_id is 'The requested organization.';
comment on column collab_store.disputed_removals.document_id is 'The requested document; null if none.';
comment on column collab_store.disputed_removals.organization_user_group_id is 'The requested user group; null if none.';
comment on column collab_store.disputed_removals.missing_user_ids is 'Users who are missing from the response and stay in the listing.';
comment on column collab_store.disputed_removals.removal_held_since is 'When the response was first received; null once the removal was refused.';
comment on column collab_store.disputed_removals.removal_refused_at is 'When the removal was refused; null while it is pending.';

create view collab_store.disputed_organization_users as
select r.scope_key as organization_key, m.user_id collate "C" as user_id, min(r.removal_held_since) as removal_held_since,
  max(r.removal_refused_at) as removal_refused_at
from collab_store.disputed_removals r
cross join rows from (unnest(r.missing_user_ids), generate_series(1, cardinality(r.missing_user_ids))) m (user_id, place)
where r.operation = 'users' and r.kind = 'organization'
group by 1, 2;
comment on view collab_store.disputed_organization_users is 'Users of disputed removals from organizations'' listings. Key: organization_key, user_id.';
comment on column collab_store.disputed_organization_users.organization_key is 'The listing.';
comment on column collab_store.disputed_organization_users.user_id is 'A user whom the last response did not contain.';
comment on column collab_store.disputed_organization_users.removal_held_since is 'As in disputed_removals.';
comment on column collab_store.disputed_organization_users.removal_refused_at is 'As in disputed_removals.';

create view collab_store.disputed_document_users as
select r.scope_key as document_key, m.user_id collate "C" as user_id, min(r.removal_held_since) as removal_held_since,
  max(r.removal_refused_at) as removal_refused_at
from collab_store.disputed_removals r
cross join rows from (unnest(r.missing_user_ids), generate_series(1, cardinality(r.missing_user_ids))) m (user_id, place)
where r.operation = 'users' and r.kind = 'document'
group by 1, 2;
comment on view collab_store.disputed_document_users is 'Users of disputed removals from documents'' listings. Key: document_key, user_id.';
comment on column collab_store.disputed_document_users.document_key is 'The listing.';
comment on column collab_store.disputed_document_users.user_id is 'A user whom the last response did not contain.';
comment on column collab_store.disputed_document_users.removal_held_since is 'As in disputed_removals.';
comment on column collab_store.disputed_document_users.removal_refused_at is 'As in disputed_removals.';

create view collab_store.disputed_user_group_members as
select r.scope_key as user_group_key, m.user_id collate "C" as user_id, min(r.removal_held_since) as removal_held_since,
  max(r.removal_refused_at) as removal_refused_at
from collab_store.disputed_removals r
cross join rows from (unnest(r.missing_user_ids), generate_series(1, cardinality(r.missing_user_ids))) m (user_id, place)
where r.operation = 'users' and r.kind = 'group'
group by 1, 2;
comment on view collab_store.disputed_user_group_members is 'Users of disputed removals from user groups'' listings. Key: user_group_key, user_id.';
comment on column collab_store.disputed_user_group_members.user_group_key is 'The listing.';
comment on column collab_store.disputed_user_group_members.user_id is 'A user whom the last response did not contain.';
comment on column collab_store.disputed_user_group_members.removal_held_since is 'As in disputed_removals.';
comment on column collab_store.disputed_user_group_members.removal_refused_at is 'As in disputed_removals.';

create view collab_store.disputed_listings as
select batch_key, kind, scope_key, organization_id, document_id, organization_user_group_id, count(removal_held_since) > 0 as is_held,
  count(removal_refused_at) > 0 as is_refused
from collab_store.disputed_removals
group by 1, 2, 3, 4, 5, 6;
comment on view collab_store.disputed_listings is 'Listings with disputed removals, one row each.';
comment on column collab_store.disputed_listings.batch_key is 'As in disputed_removals.';
comment on column collab_store.disputed_listings.kind is 'Whose listing it is: organization, document or group.';
comment on column collab_store.disputed_listings.scope_key is 'As in disputed_removals.';
comment on column collab_store.disputed_listings.organization_id is 'The requested organization.';
comment on column collab_store.disputed_listings.document_id is 'The requested document; null if none.';
comment on column collab_store.disputed_listings.organization_user_group_id is 'The requested user group; null if none.';
comment on column collab_store.disputed_listings.is_held is 'Whether removals are pending approval.';
comment on column collab_store.disputed_listings.is_refused is 'Whether removals were refused and the response has not changed since.';
