-- Notes on which days of the week the nightly schedule that holds never starts a run.
-- Params: $1 timeZone, $2 days (1 Monday to 7 Sunday).
update collab_store.definitions set schedule_time_zone = $1, days_without_run = $2
where (schedule_time_zone, days_without_run) is distinct from ($1, $2::smallint[])
