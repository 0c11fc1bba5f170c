-- A worker ends, and those that died a day ago are forgotten. When one ended that keeps the nightly schedule is noted: from
-- then on there may be none.
-- Params: $1 workerId.
with gone as (
  delete from sync.workers where worker_id = $1 or heartbeat_at < now() - interval '1 day'
  returning worker_id, settings
)
update collab_store.definitions
set worker_left_at = now()
from gone
where gone.worker_id = $1 and gone.settings is not null
