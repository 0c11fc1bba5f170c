-- A worker ends, and those that died a day ago are forgotten.
-- Params: $1 workerId.
delete from sync.workers where worker_id = $1 or heartbeat_at < now() - interval '1 day'
