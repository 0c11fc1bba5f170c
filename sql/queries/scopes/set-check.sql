-- Sets the check time of scopes that differ from their batch; null makes the batch's time apply again.
-- Params: $1 batchKey, $2 scopeNos, $3 at?.
with organization as (
  update collab_store.organizations x set own_checked_at = $3, failing_since = null
  from collab_store.batches b
  where b.batch_key = $1 and b.operation = 'users' and b.batch_no = 0 and 0 = any($2::smallint[])
    and x.organization_key = b.organization_key
), user_group as (
  update collab_store.user_groups set own_checked_at = $3, failing_since = null where batch_key = $1 and scope_no = any($2)
), document as (
  update collab_store.documents set own_checked_at = $3, failing_since = null where batch_key = $1 and scope_no = any($2)
)
update collab_store.annotations set own_checked_at = $3, failing_since = null where batch_key = $1 and scope_no = any($2)
