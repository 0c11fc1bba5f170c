-- How far refresh is with each class, where its pass ends, and whether it has something to poll now: class 7 always has.
-- Params: none.
-- Never null: end_key, is_ready.
-- Prepared.
select class, after_active_at, after_key, started_at - make_interval(secs => 240 * 4 ^ class) as end_active_at,
  2147483647 as end_key, threads, virtual_time, found, gap_s, class = 7 or not is_planned as is_ready
from sync.refresh_sweeps
order by class
