-- The last 30 nights, oldest first. duration_ms: until now while the run is in progress.
-- Params: none.
-- Never null: due_at, status.
select n.due_at, n.run_id, n.status, n.calls, n.duration_ms
from (
  select due_at, run_id, status, calls, (extract(epoch from duration) * 1000)::bigint as duration_ms
  from reporting.nightly
  order by due_at desc
  limit 30
) n
order by n.due_at
