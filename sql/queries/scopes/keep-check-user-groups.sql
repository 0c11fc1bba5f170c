-- Before the batch's time moves on: scopes that were not stored this time keep the time of their last good check.
-- Params: $1 keys.
update collab_store.user_groups x
set own_checked_at = coalesce(x.own_checked_at, b.checked_at, '-infinity')
from collab_store.batches b
where x.user_group_key = any($1) and x.own_checked_at is null and b.batch_key = x.batch_key
