-- Forgets threads that have been quiet for longer than class 6 lasts, when a pass of it begins: class 7 polls them.
-- Params: $1 at, $2 recentS.
-- Prepared.
delete from collab_store.recent_threads
where active_at <= $1::timestamptz - make_interval(secs => $2) and (select started_at from sync.refresh_sweeps where class = 6) = $1
