-- Pauses a shared rate limit from now on; a pause that lasts longer stays.
-- Params: $1 name, $2 pauseMs, $3 longestMs (the longest pause that is believed: a longer one is left from before the clock
-- was set back, and is replaced).
-- Prepared.
insert into sync.pace as pace (name, next_at, paused_until)
values ($1, clock_timestamp(), clock_timestamp() + $2::float8 * interval '1 millisecond')
on conflict (name) do update
set paused_until = greatest(
  case
    when pace.paused_until <= clock_timestamp() + $3::float8 * interval '1 millisecond'
      then pace.paused_until
  end,
  clock_timestamp() + $2::float8 * interval '1 millisecond'
);
