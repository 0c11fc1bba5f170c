-- How things are at this moment: the age of what is stored, what waits for a person, who works, how long a run is open.
-- Params: $1 deadAfterS (seconds without a heartbeat after which a worker is taken for dead).
-- Never null: scopes, never_checked, workers, calls_in_flight, calls_limit, held, rejected.
select f.*, w.*,
  (select count(*)::int from sync.held where resolved_at is null) as held,
  (select count(*)::int from sync.unstored_records where set_aside_at is null) as rejected,
  (select extract(epoch from now() - min(requested_at))::float8 from sync.runs
    where status in ('queued', 'running')) as open_run_age_s
from (
  select coalesce(sum(b.scopes), 0)::bigint as scopes,
    coalesce(sum(b.scopes) filter (where b.checked_at is null), 0)::bigint as never_checked,
    extract(epoch from now() - min(b.checked_at))::float8 as oldest_check_age_s,
    extract(epoch from now() - max(b.checked_at))::float8 as newest_check_age_s
  from collab_store.batches b
  join collab_store.organizations o using (organization_key)
  where o.active and b.scopes > 0
) f
cross join (
  select count(*)::int as workers, coalesce(sum(calls_in_flight), 0)::int as calls_in_flight,
    coalesce(sum(calls_limit), 0)::int as calls_limit
  from sync.workers
  where heartbeat_at >= now() - make_interval(secs => $1)
) w
