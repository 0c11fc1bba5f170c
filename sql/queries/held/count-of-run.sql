-- Listings that a run held and that still wait.
-- Params: $1 runId.
-- Never null: held.
select count(*)::int as held from sync.held where run_id = $1 and resolved_at is null
