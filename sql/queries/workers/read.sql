-- Workers that live, and those that stopped saying so.
-- Params: $1 seconds without a heartbeat after which a worker is taken for dead.
select worker_id, started_at, heartbeat_at, calls_in_flight, calls_limit, latency_ms,
  heartbeat_at >= now() - make_interval(secs => $1) as alive
from sync.workers
order by started_at, worker_id
