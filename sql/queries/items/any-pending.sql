-- Whether a run has pending items.
-- Params: $1 runId.
-- Never null: pending.
-- Prepared.
select exists (select from sync.run_items where run_id = $1 and state = 'pending') as pending
