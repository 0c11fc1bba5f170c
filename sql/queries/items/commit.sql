-- Records a commit of an item: its finished scopes, its counts, and the batch's checkpoint. If nothing changed, this
-- statement is the whole transaction. Counts are added to the item's. Attempts restart only if another scope is
-- finished; otherwise an item that fails after each commit would never be given up.
-- Params: $1 runId, $2 itemId, $3 batchKey? (null records no batch), $4 claimNo, $5 claimedAt, $6 doneScopes (bits), $7
-- isEnd, $8 isWhole (the whole batch was fetched), $9 batchXmin? (of the batch's row when it was claimed; a trigger
-- that counts its comments may have written to it since, in this transaction, which has the row locked),
-- $10 and on counts of a commit.
-- Prepared.
with held_batch as (
  update collab_store.batches
  set version = $4, checked_at = case when $7 and $8 then $5::timestamptz else checked_at end
  where batch_key = $3 and (version = $4 or xmin in ($9::text::xid, pg_current_xact_id_if_assigned()::xid))
  returning batch_key
)
update sync.run_items
set done_scopes = $6::text::varbit, state = case when $7 then 'done' else 'pending' end,
  finished_at = case when $7 then now() end,
  attempts = case when done_scopes is distinct from $6::text::varbit then 0 else attempts end,
  /* counts of a commit: {column} = {column} + {parameter} */ scopes_succeeded = scopes_succeeded + $10,
    scopes_failed = scopes_failed + $11, scopes_held = scopes_held + $12, calls = calls + $13, retries = retries + $14,
    records_received = records_received + $15, records_inserted = records_inserted + $16,
    records_updated = records_updated + $17, records_unchanged = records_unchanged + $18,
    records_rejected = records_rejected + $19, records_null = records_null + $20,
    organizations_done = organizations_done + $21, documents_done = documents_done + $22, groups_done = groups_done + $23,
    annotations_done = annotations_done + $24, users_written = users_written + $25, users_removed = users_removed + $26,
    members_removed = members_removed + $27, comments_written = comments_written + $28,
    comments_deleted = comments_deleted + $29, rejected = rejected + $30, service_ms = service_ms + $31,
    waited_ms = waited_ms + $32, waited_throttled_ms = waited_throttled_ms + $33, database_ms = database_ms + $34,
    cpu_ms = cpu_ms + $35, records_lost = records_lost + $36 /* end */,
  -- Sets the planned scopes to those found: $10 to $12 are the scopes that succeeded, failed and are held.
  scopes_planned = case when $7 then scopes_succeeded + scopes_failed + scopes_held + scopes_skipped + $10 + $11 + $12
    else scopes_planned end
where run_id = $1 and item_id = $2 and state = 'pending' and exists (select from held_batch)
returning item_id
