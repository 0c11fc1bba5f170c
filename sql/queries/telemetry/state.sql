-- The live workers, how long the oldest run has been open, and when history was last pruned.
-- Params: $1 deadAfterS (seconds without a heartbeat after which a worker is considered dead).
-- Never null: workers, calls_in_flight, calls_limit.
select count(*)::int as workers, coalesce(sum(calls_in_flight), 0)::int as calls_in_flight,
  coalesce(sum(calls_limit), 0)::int as calls_limit,
  (select extract(epoch from now() - min(requested_at))::float8 from sync.runs
    where status in ('queued', 'running')) as open_run_age_s,
  (select extract(epoch from max(at))::float8 from sync.actions where action = 'history_pruned') as pruned_s
from sync.workers
where heartbeat_at >= now() - make_interval(secs => $1)
