-- Deletes hints that were polled since they were reported. A hint that was reported again, or claimed by another
-- worker, stays.
-- Params: $1 keys, $2 workerId.
delete from sync.hints where annotation_key = any($1) and worker_id = $2
