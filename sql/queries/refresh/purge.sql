-- Deletes threads that have not changed for longer than class 6 covers, when a pass of it begins. Class 7 polls them.
-- Params: $1 at, $2 recentS.
-- Prepared.
delete from collab_store.recent_threads
where active_at <= $1::timestamptz - make_interval(secs => $2) and (select started_at from sync.refresh_passes where class = 6) = $1
