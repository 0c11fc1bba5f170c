-- Hands threads of the pass of a class, or batches, to a worker.
-- Params: $1 class, $2 fromActiveAt?, $3 fromKey?, $4 toActiveAt?, $5 toKey?, $6 batchKeys?, $7 workerId, $8 at.
insert into sync.refresh_pages (class, pass, pass_started_at, pass_snapshot, from_active_at, from_key, to_active_at, to_key,
  batch_keys, worker_id, claimed_at)
select class, pass, case when class < 7 then started_at end, snapshot, $2, $3, $4, $5, $6, $7, $8
from sync.refresh_sweeps
where class = $1
returning page_id
