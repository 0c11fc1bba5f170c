-- SYNC_RATE_LIMIT of live workers and which worker has it, the lowest (which applies to all) first, none last, and in
-- each row the pace and the pause that users set. The calling process is named if no live worker has its limit.
-- Params: $1 deadAfterS (seconds without a heartbeat after which a worker is considered dead), $2 own? (SYNC_RATE_LIMIT
-- of the calling process), $3 name? (null if the process has none of its own).
-- Never null: worker_ids.
-- Prepared.
with alive as (
  select rate_limit, worker_id from sync.workers where heartbeat_at >= now() - make_interval(secs => $1)
), own as (
  select $2::float8 as rate_limit, $3::text as worker_id
), limits as (
  select rate_limit, array_agg(worker_id order by worker_id) as worker_ids
  from (
    select * from alive
    union all
    select * from own o
    where o.worker_id is not null and not exists (select from alive a where a.rate_limit is not distinct from o.rate_limit)
  ) w
  group by rate_limit
)
select l.rate_limit, l.worker_ids, (select calls_per_second from sync.pace) as pace, p.paused_at, p.paused_until,
  p.paused_by, p.reason, extract(epoch from p.paused_until - now())::float8 * 1000 as pause_ms
from limits l
left join sync.current_pause p on true
order by l.rate_limit nulls last
