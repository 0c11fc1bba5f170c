-- How things are at this moment, beside scopes/freshness: what waits for a person, who works, how long a run is open.
-- Params: $1 deadAfterS (seconds without a heartbeat after which a worker is taken for dead).
-- Never null: workers, calls_in_flight, calls_limit, held, rejected.
select count(*)::int as workers, coalesce(sum(calls_in_flight), 0)::int as calls_in_flight,
  coalesce(sum(calls_limit), 0)::int as calls_limit,
  (select count(*)::int from sync.held where resolved_at is null) as held,
  (select count(*)::int from sync.unstored_records where is_open) as rejected,
  (select extract(epoch from now() - min(requested_at))::float8 from sync.runs
    where status in ('queued', 'running')) as open_run_age_s
from sync.workers
where heartbeat_at >= now() - make_interval(secs => $1)
