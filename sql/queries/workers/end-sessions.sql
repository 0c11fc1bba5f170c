-- Ends the sessions of workers without a heartbeat that are inside a transaction, because a frozen worker holds its
-- locks. No time limit of the server ends a session that waits for the rest of a COPY. Materialized, because PostgreSQL
-- might otherwise evaluate the condition that ends sessions before the others.
-- Params: $1 deadAfterS (seconds without a heartbeat after which a worker is considered dead).
-- Never null: pid, open_s.
-- Prepared.
with frozen as materialized (
  select w.worker_id, a.pid, a.state, extract(epoch from now() - a.xact_start)::int as open_s
  from sync.workers w
  join pg_stat_activity a using (application_name)
  where w.heartbeat_at < now() - make_interval(secs => $1) and a.xact_start is not null
    and a.datname = current_database() and a.usename = session_user
)
select worker_id, pid, state, open_s, pg_terminate_backend(pid) as ended
from frozen
