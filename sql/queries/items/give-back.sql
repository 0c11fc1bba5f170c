-- A worker gives back an item that it cannot work on: that was no attempt, and another worker takes it up.
-- Params: $1 runId, $2 itemId, $3 workerId.
update sync.run_items set attempts = greatest(attempts - 1, 0), worker_id = null
where run_id = $1 and item_id = $2 and worker_id = $3 and state = 'pending'
