-- The pace and the pause that users set; one row. lowest_rate_limit: of live workers.
-- Params: $1 deadAfterS (seconds without a heartbeat after which a worker is considered dead).
select c.calls_per_second, c.set_at, a.by as set_by,
  (
    select min(rate_limit) from sync.workers where heartbeat_at >= now() - make_interval(secs => $1)
  ) as lowest_rate_limit,
  p.paused_at, p.paused_until, p.paused_by, p.reason
from (select) only_row
left join sync.pace c on true
left join sync.actions a on a.at = c.set_at and a.action = 'pace_set'
left join sync.current_pause p on true
