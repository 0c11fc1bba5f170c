-- Notes that a batch was written to, or looked at as a whole, as items/commit does for an item of a run. Nothing where somebody
-- else has written to it since.
-- Params: $1 batchKey, $2 claimNo, $3 batchXmin?, $4 checkedAt? (null: only some of its scopes were looked at).
-- Prepared.
update collab_store.batches
set version = $2, checked_at = coalesce($4, checked_at)
where batch_key = $1 and (version = $2 or xmin in ($3::text::xid, pg_current_xact_id_if_assigned()::xid))
