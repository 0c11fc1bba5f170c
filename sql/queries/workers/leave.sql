-- Deletes a process that stops, and those that died a day ago. Stores when a worker that keeps the nightly schedule
-- stopped, because there may be none from then on.
-- Params: $1 workerId.
with gone as (
  delete from sync.processes where worker_id = $1 or heartbeat_at < now() - interval '1 day'
  returning worker_id, settings
)
update collab_store.definitions
set worker_left_at = now()
from gone
where gone.worker_id = $1 and gone.settings is not null
