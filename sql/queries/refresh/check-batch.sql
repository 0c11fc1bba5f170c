-- Records that all scopes of a batch were polled, as items/commit does for an item of a run. No row if another claim
-- has written to it since.
-- Params: $1 batchKey, $2 claimNo, $3 batchXmin?, $4 checkedAt.
-- Prepared.
update collab_store.batches
set version = $2, checked_at = $4
where batch_key = $1 and (version = $2 or xmin in ($3::text::xid, pg_current_xact_id_if_assigned()::xid))
