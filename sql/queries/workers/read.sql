-- Live workers and those without a heartbeat; of the latter, whether they hold a transaction open.
-- Params: $1 deadAfterS (seconds without a heartbeat after which a worker is considered dead).
-- Never null: calls_in_flight, calls_limit, alive, holds_transaction.
select w.worker_id, w.started_at, w.heartbeat_at, w.calls_in_flight, w.calls_limit, w.latency_ms,
  w.problem, w.problem_since, h.alive,
  not h.alive and exists (
    select from pg_stat_activity a
    where a.application_name = w.application_name and a.datname = current_database() and a.xact_start is not null
  ) as holds_transaction
from sync.workers w
cross join lateral (select w.heartbeat_at >= now() - make_interval(secs => $1) as alive) h
order by started_at, worker_id
