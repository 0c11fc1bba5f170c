-- Whether history was pruned for a nightly run.
-- Params: $1 runId.
-- Never null: is_pruned.
select exists (select from sync.actions where run_id = $1 and action = 'history_pruned') as is_pruned
