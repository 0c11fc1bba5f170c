-- Counts failures with an unknown meaning, to document their set. The first message remains the sample. Inserts in the
-- order of the key, to avoid deadlocks.
-- Params: $1 operation, $2 httpStatuses (0 if there was none), $3 errorStatuses, $4 messages.
insert into sync.observed_errors as o (operation, http_status, error_status, times, sample)
select $1, n.http_status, n.error_status, count(*), min(n.message)
from unnest($2::int[], $3::text[], $4::text[]) as n (http_status, error_status, message)
group by n.http_status, n.error_status
order by n.http_status, n.error_status
on conflict (operation, http_status, error_status) do update
set times = o.times + excluded.times, last_seen_at = now()
