-- Sets the check time of scopes that differ from their batch; null makes the batch's time apply again.
-- Params: $1 batchKey, $2 scopeNos, $3 at?.
with listing as (
  update collab_store.listings set own_checked_at = $3, failing_since = null where batch_key = $1 and scope_no = any($2::smallint[])
)
update collab_store.annotations set own_checked_at = $3, failing_since = null where batch_key = $1 and scope_no = any($2)
