-- How far refresh is with each class.
-- Params: none.
-- Prepared.
select class, pass, started_at, snapshot::text as snapshot, is_planned, after_active_at, after_key, threads, virtual_time, found, gap_s
from sync.refresh_sweeps
order by class
