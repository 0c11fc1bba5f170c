-- Adds looks that wrote nothing to what a worker refreshed in a day.
-- Params: $1 runId, $2 itemId, $3 scopesSucceeded, $4 recordsUnchanged, $5 organizationsDone, $6 documentsDone, $7 groupsDone, $8
-- annotationsDone, $9 scopesFailed.
-- Prepared.
update sync.run_items
set scopes_succeeded = scopes_succeeded + $3, records_received = records_received + $4,
  records_unchanged = records_unchanged + $4, organizations_done = organizations_done + $5,
  documents_done = documents_done + $6, groups_done = groups_done + $7, annotations_done = annotations_done + $8, scopes_failed = scopes_failed + $9
where run_id = $1 and item_id = $2 and state = 'pending'
