-- Live processes, workers first, with what they wait for and the settings with which they started.
-- Params: $1 deadAfterS (seconds without a heartbeat after which a process is considered dead).
-- Never null: kind.
select worker_id, kind, version, started_at, heartbeat_at, calls_in_flight, calls_limit, latency_ms, problem,
  problem_since, waiting ->> 'sentence' as waiting, (waiting ->> 'since')::timestamptz as waiting_since, configuration
from sync.processes
where heartbeat_at >= now() - make_interval(secs => $1)
order by kind = 'serve', started_at, worker_id
