-- Counts failures whose meaning is not known, so that the undocumented set becomes known. The first message stays as the
-- sample. In the order of the key, so that two transactions never wait for each other in a circle.
-- Params: $1 operation, $2 httpStatuses (0 where there was none), $3 errorStatuses, $4 messages.
insert into sync.observed_errors as o (operation, http_status, error_status, times, sample)
select $1, n.http_status, n.error_status, count(*), min(n.message)
from unnest($2::int[], $3::text[], $4::text[]) as n (http_status, error_status, message)
group by n.http_status, n.error_status
order by n.http_status, n.error_status
on conflict (operation, http_status, error_status) do update
set times = o.times + excluded.times, last_seen_at = now()
