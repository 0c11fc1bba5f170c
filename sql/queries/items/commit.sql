-- Records what was committed of an item: its scopes done, its counts, and the batch's checkpoint. Where nothing changed,
-- this one statement is the whole transaction. Counts are added to the item's. Attempts begin anew only where another scope
-- is done: else an item that fails after each commit would never be given up.
-- Params: $1 runId, $2 itemId, $3 batchKey? (where it is null nothing is recorded), $4 claimNo, $5 claimedAt, $6 doneScopes
-- (bits), $7 isEnd, $8 isWhole (the whole batch was asked), $9 calls, $10 retries, $11 scopesSucceeded, $12 scopesFailed, $13
-- scopesHeld, $14 recordsReceived, $15 recordsInserted, $16 recordsUpdated, $17 recordsUnchanged, $18 recordsRejected, $19
-- recordsNull, $20 organizationsDone, $21 documentsDone, $22 groupsDone, $23 annotationsDone, $24 usersWritten, $25
-- commentsWritten, $26 commentsDeleted, $27 rejected, $28 serviceMs, $29 waitedMs, $30 databaseMs, $31 cpuMs, $32
-- batchXmin? (of the batch's row when it was claimed; a trigger that counts its comments may have written to it since, in
-- this transaction, which has the row locked), $33 recordsLost, $34 usersRemoved, $35 membersRemoved, $36
-- waitedThrottledMs.
-- Prepared.
with held_batch as (
  update collab_store.batches
  set version = $4, checked_at = case when $7 and $8 then $5::timestamptz else checked_at end
  where batch_key = $3 and (version = $4 or xmin in ($32::text::xid, pg_current_xact_id_if_assigned()::xid))
  returning batch_key
)
update sync.run_items
set done_scopes = $6::text::varbit, state = case when $7 then 'done' else 'pending' end,
  finished_at = case when $7 then now() end,
  attempts = case when done_scopes is distinct from $6::text::varbit then 0 else attempts end,
  calls = calls + $9, retries = retries + $10,
  scopes_planned = case when $7 then scopes_succeeded + scopes_failed + scopes_held + scopes_skipped + $11 + $12 + $13
    else scopes_planned end,
  scopes_succeeded = scopes_succeeded + $11, scopes_failed = scopes_failed + $12, scopes_held = scopes_held + $13,
  records_received = records_received + $14, records_inserted = records_inserted + $15,
  records_updated = records_updated + $16, records_unchanged = records_unchanged + $17,
  records_rejected = records_rejected + $18, records_null = records_null + $19,
  organizations_done = organizations_done + $20, documents_done = documents_done + $21,
  groups_done = groups_done + $22, annotations_done = annotations_done + $23,
  users_written = users_written + $24, users_removed = users_removed + $34, members_removed = members_removed + $35,
  comments_written = comments_written + $25, comments_deleted = comments_deleted + $26,
  rejected = rejected + $27, records_lost = records_lost + $33,
  service_ms = service_ms + $28, waited_ms = waited_ms + $29,
  waited_throttled_ms = waited_throttled_ms + $36, database_ms = database_ms + $30, cpu_ms = cpu_ms + $31
where run_id = $1 and item_id = $2 and state = 'pending' and exists (select from held_batch)
returning item_id
