-- Adds calls that one process sent for a run, even if the run has finished.
-- Params: $1 runId, $2 calls, $3 retries.
-- Prepared.
update sync.runs set calls = calls + $2, retries = retries + $3 where run_id = $1
