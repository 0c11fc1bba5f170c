-- Threads that were not looked at all the same: another worker takes them.
-- Params: $1 keys, $2 workerId.
update sync.hints set worker_id = null, claimed_at = null where annotation_key = any($1) and worker_id = $2
