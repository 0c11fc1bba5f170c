-- Counts an attempt whose claim failed, which claim itself could not count.
-- Params: $1 runId, $2 itemId.
update sync.run_items set attempts = attempts + 1
where run_id = $1 and item_id = $2 and state = 'pending'
returning attempts
