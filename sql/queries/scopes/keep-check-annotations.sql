-- Scopes that were not checked well this time keep the time of their last good check, and whether this try failed. What is as
-- it was is not written again, so that a scope that fails every night costs nothing here.
-- Params: $1 keys, $2 isFailing, $3 at.
update collab_store.annotations x
set own_checked_at = coalesce(x.own_checked_at, b.checked_at, '-infinity'),
  failing_since = case when $2 then coalesce(x.failing_since, $3) end
from collab_store.batches b
where x.annotation_key = any($1) and b.batch_key = x.batch_key
  and (x.own_checked_at is null or (x.failing_since is not null) <> $2)
