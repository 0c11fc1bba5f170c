-- The run whose claim of a batch began at the time of its check, among the runs that were under way then. That time passed through
-- milliseconds.
-- Params: $1 batchKey, $2 checkedAt.
select i.run_id
from sync.runs r
join sync.run_items i using (run_id)
where r.requested_at <= $2 and r.requested_at > $2 - interval '7 days' and coalesce(r.finished_at, 'infinity') >= $2
  and i.batch_key = $1 and date_trunc('milliseconds', i.claimed_at) = date_trunc('milliseconds', $2::timestamptz)
limit 1
