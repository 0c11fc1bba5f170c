-- Notes the nightly schedule that holds, and when it is due.
-- Params: $1 schedule? (cron expression and time zone), $2 timeZone, $3 days (1 Monday to 7 Sunday, on which it never starts a
-- run), $4 lastDueAt?, $5 nextDueAt?, $6 lateAfterS.
update collab_store.definitions
set schedule_since = case when schedule is distinct from $1 then now() else schedule_since end,
  schedule = $1, schedule_time_zone = $2, days_without_run = $3, last_due_at = $4, next_due_at = $5,
  late_after = make_interval(secs => $6)
where (schedule, schedule_time_zone, days_without_run, last_due_at, next_due_at, late_after)
  is distinct from ($1, $2, $3::smallint[], $4::timestamptz, $5::timestamptz, make_interval(secs => $6))
