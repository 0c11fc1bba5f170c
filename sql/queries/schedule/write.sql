-- Sets or removes the nightly schedule. Changes no row if it is the same already.
-- Params: $1 cron, $2 timeZone, $3 isRemoved.
insert into sync.schedule as s (cron, time_zone, removed) values ($1, $2, $3)
on conflict (only_row) do update set cron = $1, time_zone = $2, removed = $3, set_at = now()
where (s.cron, s.time_zone, s.removed) is distinct from ($1, $2, $3)
