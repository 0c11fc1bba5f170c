-- Assigns the next threads of a pass to a worker, and advances the cursor of the pass.
-- Params: $1 class, $2 isPlanned (they are the last), $3 toActiveAt, $4 toKey, $5 virtualTime, $6 workerId, $7 at.
-- Prepared.
with moved as (
  update sync.refresh_passes set is_planned = $2, after_active_at = $3, after_key = $4, virtual_time = $5 where class = $1
)
insert into sync.refresh_pages (class, pass, pass_started_at, pass_snapshot, from_active_at, from_key, to_active_at, to_key,
  worker_id, claimed_at)
-- The cursor before it advanced.
select class, pass, started_at, snapshot, after_active_at, after_key, $3, $4, $6, $7
from sync.refresh_passes
where class = $1
returning page_id
