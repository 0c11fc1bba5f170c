-- Threads that were polled since they were reported. One that was reported again, or taken by another worker, since then stays.
-- Params: $1 keys, $2 workerId.
delete from sync.hints where annotation_key = any($1) and worker_id = $2
