-- Threads that were looked at since they were hinted at. One that was hinted at again since it was taken stays.
-- Params: $1 keys, $2 workerId.
delete from sync.hints where annotation_key = any($1) and worker_id = $2
