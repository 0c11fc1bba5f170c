-- Before the batch's time moves on: scopes that were not stored this time keep the time of their last good check.
-- Params: $1 keys.
update collab_store.organizations x
set own_checked_at = coalesce(x.own_checked_at, b.checked_at, '-infinity')
from collab_store.batches b
where x.organization_key = any($1) and x.own_checked_at is null and b.organization_key = x.organization_key and b.operation = 'users' and b.batch_no = 0
