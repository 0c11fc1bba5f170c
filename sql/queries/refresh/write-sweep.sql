-- Moves a class on: a pass begins, or threads of it are handed out.
-- Params: $1 class, $2 pass, $3 startedAt?, $4 snapshot?, $5 isPlanned, $6 afterActiveAt?, $7 afterKey?, $8 threads, $9 virtualTime.
-- Prepared.
update sync.refresh_sweeps
set pass = $2, started_at = $3, snapshot = $4::text::xid8, is_planned = $5, after_active_at = $6, after_key = $7,
  before_started_at = case when pass < $2 then started_at else before_started_at end, threads = $8, virtual_time = $9
where class = $1
