-- Notes that polls of a class are handed out.
-- Params: $1 class, $2 virtualTime.
-- Prepared.
update sync.refresh_sweeps set virtual_time = $2 where class = $1
