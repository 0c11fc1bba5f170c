-- Adds calls that one process sent for a run, and how long calls were throttled, even if the run has finished.
-- Params: $1 runId, $2 calls, $3 retries, $4 waitedThrottledMs.
-- Prepared.
update sync.runs set calls = calls + $2, retries = retries + $3, waited_throttled_ms = waited_throttled_ms + $4
where run_id = $1
