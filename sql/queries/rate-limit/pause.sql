-- Pauses a shared rate limit from now on; a longer pause stays.
-- Params: $1 name, $2 pauseMs, $3 longestMs (maximum valid pause; a longer one is from before the clock was set back).
-- Prepared.
insert into sync.rate_limit_slots as pace (name, next_at, paused_until)
values ($1, clock_timestamp(), clock_timestamp() + make_interval(secs => $2::float8 / 1000))
on conflict (name) do update
set paused_until = greatest(
  case when pace.paused_until <= clock_timestamp() + make_interval(secs => $3::float8 / 1000) then pace.paused_until end,
  clock_timestamp() + make_interval(secs => $2::float8 / 1000)
)
