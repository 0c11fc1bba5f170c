-- Runs do not fetch scopes of operations that SYNC_OPERATIONS leaves out, so freshness, coverage and attention no longer count
-- these scopes. Their stored rows stay, and is_stale marks them when they may be out of date.
-- Works with: 0.1.0

alter table collab_store.definitions add column operations text[] not null default '{users,comments}';
comment on column collab_store.definitions.operations is 'SYNC_OPERATIONS: what is synced. Freshness, coverage and attention do not count scopes of other operations.';

create view collab_store.all_checks as
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
comment on view collab_store.all_checks is 'Counts of the scopes of the catalog, of all operations: collab_store.checks has those that are synced.';
comment on column collab_store.all_checks.organization_key is 'The organization of the scopes.';
comment on column collab_store.all_checks.operation is 'users: listings. comments: annotations.';
comment on column collab_store.all_checks.scopes is 'Number of scopes in the row.';
comment on column collab_store.all_checks.checked_at is 'Start of their last successful check; null if there was none. Passes of refresh count only where the batch is late.';
comment on column collab_store.all_checks.failing_since is 'When a check first failed after that; null if the last check succeeded.';
comment on column collab_store.all_checks.is_stale is 'True if the stored data may be out of date, as in reporting.freshness.';
comment on column collab_store.all_checks.is_overdue is 'True if the last successful check is older than promised, or a scope without one has been failing for longer than promised.';

create or replace view collab_store.checks as
select organization_key, operation, scopes, checked_at, failing_since, is_stale, is_overdue
from collab_store.all_checks
where operation = any((select operations from collab_store.definitions)::text[]);

-- Counts all operations, because reports contain stored rows of operations that are not synced.
create or replace view collab_store.organization_checks as
select organization_key,
  case when bool_and(checked_at is not null) filter (where operation = 'comments')
    then min(checked_at) filter (where operation = 'comments') end as annotations_checked_at,
  coalesce(sum(scopes) filter (where is_stale and operation = 'comments'), 0)::bigint as stale_annotations,
  coalesce(sum(scopes) filter (where is_stale and operation = 'users'), 0)::bigint as stale_listings
from collab_store.all_checks
group by 1;

create or replace view sync.open_holds as
select h.held_id, h.run_id, h.organization_id, h.at, s.is_synced and l.failing_since is not null as is_failing,
  s.is_synced and l.failing_since is null and coalesce(l.checked_at < (select kept_since from collab_store.promise), false) as is_overdue
from sync.held h
join collab_store.checked_listings l using (batch_key, kind, scope_key)
cross join lateral (
  select l.operation = any((select operations from collab_store.definitions)::text[]) as is_synced
) s
where h.resolved_at is null and l.active;

create or replace view reporting.freshness as
select l.kind as level, o.organization_id, d.document_id, null::text as annotation_id, null::text as organization_user_group_id,
  l.checked_at, now() - l.checked_at as age, l.failing_since, l.is_stale,
  o.name as organization_name, d.name as document_name, null::text as user_group_name, l.operation
from collab_store.checked_listings l
join collab_store.organizations o using (organization_key)
left join collab_store.documents d on l.kind = 'document' and d.document_key = l.scope_key
where l.kind <> 'group' and l.active and o.active
  and l.operation = any((select operations from collab_store.definitions)::text[])
union all
select 'user group', o.organization_id, null, null, g.organization_user_group_id, l.checked_at, now() - l.checked_at,
  l.failing_since, l.is_stale, o.name, null, g.name, l.operation
from collab_store.checked_listings l
join collab_store.organizations o using (organization_key)
join collab_store.user_groups g on g.user_group_key = l.scope_key
where l.kind = 'group' and l.active and o.active
  and l.operation = any((select operations from collab_store.definitions)::text[])
union all
select 'annotation', o.organization_id, d.document_id, x.annotation_id, null, x.checked_at, now() - x.checked_at,
  x.failing_since, x.is_stale, o.name, d.name, null, 'comments'
from collab_store.checked_annotations x
join collab_store.documents d using (document_key)
join collab_store.organizations o using (organization_key)
where x.active and d.active and o.active
  and 'comments' = any((select operations from collab_store.definitions)::text[]);

create or replace view reporting.coverage as
select s.organization_id, s.level, coalesce(sum(s.scopes) filter (where s.in_catalog), 0)::bigint as known,
  coalesce(sum(s.scopes) filter (where s.in_catalog and not s.is_stale and s.is_held is not true), 0)::bigint as fresh,
  coalesce(sum(s.scopes) filter (where s.in_catalog and s.is_stale and s.checked_at is not null and s.is_held is not true), 0)::bigint as stale,
  coalesce(sum(s.scopes) filter (where s.in_catalog and s.checked_at is null and s.is_held is not true), 0)::bigint as never_synced,
  coalesce(sum(s.scopes) filter (where s.in_catalog and s.is_failing), 0)::bigint as failing,
  coalesce(sum(s.scopes) filter (where s.in_catalog and s.is_held), 0)::bigint as held,
  coalesce(sum(s.scopes) filter (where not s.in_catalog), 0)::bigint as not_in_catalog,
  coalesce(sum(s.scopes) filter (where s.in_catalog and s.is_refused), 0)::bigint as refused, s.operation
from (
  select o.organization_id, case l.kind when 'group' then 'user group' else l.kind end as level, l.active and o.active as in_catalog,
    l.checked_at, l.is_stale, l.failing_since is not null as is_failing, r.is_held, r.is_refused, l.operation, 1 as scopes
  from collab_store.checked_listings l
  join collab_store.organizations o using (organization_key)
  left join collab_store.disputed_listings r using (batch_key, kind, scope_key)
  union all
  select o.organization_id, 'annotation', true, c.checked_at, c.is_stale, c.failing_since is not null, false, false, c.operation, c.scopes
  from collab_store.checks c
  join collab_store.organizations o using (organization_key)
  where c.operation = 'comments'
  union all
  select o.organization_id, 'annotation', false, null, true, false, false, false, b.operation, b.scopes
  from collab_store.batches b
  join collab_store.organizations o using (organization_key)
  where b.operation = 'comments' and b.scopes > 0 and not o.active
  union all
  select o.organization_id, 'annotation', false, null, true, false, false, false, 'comments', count(*)
  from collab_store.annotations x
  join collab_store.documents d using (document_key)
  join collab_store.organizations o using (organization_key)
  where not x.active
  group by 1
  union all
  select x.organization_id, 'user', x.in_catalog, x.checked_at, x.is_stale, false,
    x.removal_held_since is not null, x.removal_refused_at is not null, 'users', 1
  from collab.users x
) s
where s.operation = any((select operations from collab_store.definitions)::text[])
group by s.organization_id, s.level, s.operation;
comment on view reporting.freshness is 'One row per scope of the catalog (an operation of an organization, user group, document or annotation), with its last successful check. Operations that SYNC_OPERATIONS leaves out have no rows.';
comment on view reporting.coverage is 'Counts by organization, level and operation of what was checked and how recently. known = fresh + stale + held + never_synced. Operations that SYNC_OPERATIONS leaves out have no rows. Key: organization_id, level, operation.';
comment on view collab_store.checks is 'Counts of the scopes of the catalog whose operations are synced: one row per batch for the scopes with the batch''s time, and one row per group of other scopes with equal times. Same data as reporting.freshness, for totals that must not read each scope.';
comment on column sync.open_holds.is_failing is 'Whether the operation is synced and the last check of the listing failed.';
comment on column sync.open_holds.is_overdue is 'Whether the operation is synced, the last check did not fail and the last successful one is older than promised.';
