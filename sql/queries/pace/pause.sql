-- Pauses all calls from now on, or changes the end of the pause that lasts.
-- Params: $1 forS (duration in seconds, so that the clocks of two machines are not compared), $2 by, $3 reason?.
with changed as (
  update sync.pauses set paused_until = now() + make_interval(secs => $1), paused_by = $2, reason = $3
  where paused_until > now()
  returning pause_id
)
insert into sync.pauses (paused_until, paused_by, reason)
select now() + make_interval(secs => $1), $2, $3
where not exists (select from changed)
