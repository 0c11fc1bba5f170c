-- Progress of continuous refresh by class, the end of the pass, and whether there are threads to poll; class 7 always
-- has some.
-- Params: none.
-- Never null: end_key, is_ready.
-- Prepared.
select class, after_active_at, after_key, started_at - make_interval(secs => 240 * 4 ^ class) as end_active_at,
  2147483647 as end_key, threads, virtual_time, found, gap_s, class = 7 or not is_planned as is_ready
from sync.refresh_passes
order by class
