-- Stores the virtual time of a class after polls were handed out.
-- Params: $1 class, $2 virtualTime.
-- Prepared.
update sync.refresh_passes set virtual_time = $2 where class = $1
