-- Up Migration
-- A run that is stopped since the service refuses key or token looks at nothing: all that it was to look at may be out of
-- date, as where each call failed. One time says it for every scope: to write it on each would be a write a scope for a night
-- in which nothing was learnt. What is checked well afterwards is checked later than that, so nothing has to take it back.

alter table collab_store.definitions add column looks_failed_at timestamptz;
comment on column collab_store.definitions.looks_failed_at is 'When the last run of everything began that was given up, as where the service refuses key or token: what was last checked well before then may be out of date. Null where there was none.';

create or replace view collab_store.promise as
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
comment on column collab_store.promise.stale_before is 'What was last checked well before this time is stale: longer ago than promised, or before a run of everything that was given up.';
comment on column collab_store.promise.kept_since is 'What was last checked well before this time breaks the promise.';

create or replace view collab_store.checks as
select c.organization_key, c.operation, c.scopes, c.checked_at, c.failing_since,
  collab_store.is_stale(c.checked_at, c.failing_since, (select stale_before from collab_store.promise)) as is_stale,
  coalesce(coalesce(c.checked_at, c.failing_since) < (select kept_since from collab_store.promise), false) as is_overdue
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
comment on column collab_store.checks.is_overdue is 'Last checked well, or failing without ever having been, since longer than promised: what people are notified of.';

comment on column reporting.observed_values.first_seen_at is 'When a check first saw it (our clock), of the versions that are kept: `prune` may leave it later.';
