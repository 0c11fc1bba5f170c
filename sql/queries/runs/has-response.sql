-- Whether the service returned a response for any scope of a run, in any process.
-- Params: $1 runId.
-- Never null: has_response.
select exists (
  select from sync.run_items where run_id = $1 and (scopes_succeeded > 0 or scopes_held > 0)
) as has_response
