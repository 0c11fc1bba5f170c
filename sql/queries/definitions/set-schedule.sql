-- Stores the current nightly schedule and its next due times. Deletes future due times of another schedule, including
-- those that a process with an older schedule stores at the same moment, but not one that has passed on this process's
-- clock and not yet on PostgreSQL's.
-- Params: $1 schedule? (cron expression and time zone), $2 timeZone, $3 days (1 Monday to 7 Sunday, on which it starts
-- no run), $4 dueTimes (empty if none is scheduled), $5 lateAfterS.
-- Prepared.
with deleted as (
  delete from sync.nightly_due n
  using collab_store.definitions d
  where n.due_at <> all($4::timestamptz[])
    and n.due_at > case when d.schedule is distinct from $1 then now() else now() + interval '30 seconds' end
), stored as (
  insert into sync.nightly_due (due_at) select unnest($4::timestamptz[]) on conflict do nothing
)
update collab_store.definitions
set schedule_since = case when schedule is distinct from $1 then now() else schedule_since end,
  schedule = $1, schedule_time_zone = $2, days_without_run = $3, next_due_at = ($4::timestamptz[])[1],
  late_after = make_interval(secs => $5)
where (schedule, schedule_time_zone, days_without_run, next_due_at, late_after)
  is distinct from ($1, $2, $3::smallint[], ($4::timestamptz[])[1], make_interval(secs => $5))
