-- SYNC_RATE_LIMIT of live workers and which worker has it, the lowest (which applies to all) first, none last, and in
-- each row the pace and the pause that users set. The calling process is named if no live worker has its limit.
-- Params: $1 deadAfterS, $2 own? (SYNC_RATE_LIMIT of the calling process).
-- Never null: worker_ids.
-- Prepared.
with alive as (
  select rate_limit, worker_id from sync.workers where heartbeat_at >= now() - make_interval(secs => $1)
), limits as (
  select rate_limit, array_agg(worker_id order by worker_id) as worker_ids
  from (
    select * from alive
    union all
    select $2::float8, 'this process' where not exists (select from alive where rate_limit is not distinct from $2)
  ) w
  group by rate_limit
)
select l.rate_limit, l.worker_ids, (select calls_per_second from sync.pace) as pace, p.paused_at, p.paused_until,
  p.paused_by, p.reason, extract(epoch from p.paused_until - now())::float8 * 1000 as pause_ms
from limits l
left join sync.current_pause p on true
order by l.rate_limit nulls last
