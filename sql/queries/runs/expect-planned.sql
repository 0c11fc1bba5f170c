-- The same for a run whose items are all planned at its start.
-- Params: $1 runId.
update sync.runs set scopes_expected = (
  select coalesce(sum(scopes_planned), 0) from sync.run_items where run_id = $1
)
where run_id = $1
returning scopes_expected
