-- Reserves the next slots of a shared rate limit (GCRA), or none during a pause.
-- Params: $1 name, $2 slotsMs (duration of the slots), $3 catchUpMs (delay that may be caught up), $4 furthestSlotMs,
-- $5 furthestPauseMs (maximum valid distance of a slot and of the end of a pause; a greater one is from before the
-- clock was set back). Returns pause_ms (above 0: nothing was reserved) and wait_ms, from now to the first slot.
-- clock_timestamp(), because now() is from before the wait for the row lock.
-- Never null: pause_ms, wait_ms.
-- Prepared.
insert into sync.rate_limit_slots as pace (name, next_at)
values ($1, clock_timestamp() + make_interval(secs => ($2::float8 - $3::float8) / 1000))
on conflict (name) do update
set next_at = case
  when pace.paused_until > clock_timestamp() and pace.paused_until <= clock_timestamp() + make_interval(secs => $5::float8 / 1000)
    then pace.next_at
  else greatest(
    case when pace.next_at <= clock_timestamp() + make_interval(secs => $4::float8 / 1000) then pace.next_at end,
    clock_timestamp() - make_interval(secs => $3::float8 / 1000)
  ) + make_interval(secs => $2::float8 / 1000)
  end
returning
  case
    when paused_until > clock_timestamp() and paused_until <= clock_timestamp() + make_interval(secs => $5::float8 / 1000)
      then extract(epoch from paused_until - clock_timestamp())::float8 * 1000
    else 0::float8
  end as pause_ms,
  extract(epoch from next_at - clock_timestamp())::float8 * 1000 - $2::float8 as wait_ms
