-- How far refresh is with each class; where its pass ends.
-- Params: none.
-- Never null: end_key.
-- Prepared.
select class, is_planned, after_active_at, after_key, started_at - make_interval(secs => 240 * 4 ^ class) as end_active_at,
  2147483647 as end_key, threads, virtual_time, found, gap_s
from sync.refresh_sweeps
order by class
