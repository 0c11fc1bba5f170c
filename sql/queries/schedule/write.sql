-- Sets the nightly schedule, or removes it.
-- Params: $1 cron?, $2 timeZone?.
insert into sync.schedule (cron, time_zone) values ($1, $2)
on conflict (only_row) do update set cron = $1, time_zone = $2, set_at = now()
