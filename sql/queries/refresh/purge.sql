-- Deletes threads that have not changed for longer than class 6 covers, when a pass of it begins: class 7 polls them. Also
-- deletes counts of hours that no view or statement reads any more.
-- Params: $1 at, $2 recentS.
-- Prepared.
with hours as (
  delete from sync.refresh_hours where hour < $1::timestamptz - interval '90 days'
)
delete from collab_store.recent_threads
where active_at <= $1::timestamptz - make_interval(secs => $2) and (select started_at from sync.refresh_passes where class = 6) = $1
