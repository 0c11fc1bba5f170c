-- Adds polls to the counts of an hour, and those that wrote nothing to the counts of a worker's day.
-- Params: $1 at, $2 class, $3 polls, $4 calls, $5 found, $6 failed, $7 runId, $8 itemId, $9 scopesSucceeded, $10 scopesFailed,
-- $11 recordsUnchanged, $12 organizationsDone, $13 documentsDone, $14 groupsDone, $15 annotationsDone.
-- Prepared.
with hour as (
  insert into sync.refresh_hours as h (hour, class, polls, calls, found, failed)
  values (date_trunc('hour', $1::timestamptz), $2, $3, $4, $5, $6)
  on conflict (hour, class) do update
  set polls = h.polls + excluded.polls, calls = h.calls + excluded.calls, found = h.found + excluded.found,
    failed = h.failed + excluded.failed
)
update sync.run_items
set scopes_succeeded = scopes_succeeded + $9, scopes_failed = scopes_failed + $10,
  records_received = records_received + $11, records_unchanged = records_unchanged + $11,
  organizations_done = organizations_done + $12, documents_done = documents_done + $13, groups_done = groups_done + $14,
  annotations_done = annotations_done + $15
where run_id = $7 and item_id = $8 and state = 'pending'
