-- Returns an item that the worker cannot process. This does not count as an attempt, and another worker claims it.
-- Params: $1 runId, $2 itemId, $3 workerId.
update sync.run_items set attempts = greatest(attempts - 1, 0), worker_id = null
where run_id = $1 and item_id = $2 and worker_id = $3 and state = 'pending'
