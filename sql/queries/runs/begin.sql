-- Marks a run as started when a worker claims its first item.
-- Params: $1 runId.
update sync.runs set status = 'running', started_at = now() where run_id = $1 and status = 'queued'
