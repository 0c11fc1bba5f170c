-- Notes what was handed out of a class.
-- Params: $1 class, $2 isPlanned, $3 afterActiveAt?, $4 afterKey?, $5 virtualTime.
-- Prepared.
update sync.refresh_sweeps
set is_planned = $2, after_active_at = $3, after_key = $4, virtual_time = $5
where class = $1
