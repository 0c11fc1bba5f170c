-- A worker begins a run: its first item is taken up.
-- Params: $1 runId.
update sync.runs set status = 'running', started_at = now() where run_id = $1 and status = 'queued'
