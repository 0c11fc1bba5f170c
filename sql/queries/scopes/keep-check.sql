-- For scopes without a successful check this time, keeps the time of their last successful check and whether this check
-- failed. Unchanged values are not written, so that a scope that fails every night costs nothing here.
-- Params: $1 batchKey, $2 scopeNos, $3 isFailing, $4 at.
with listing as (
  update collab_store.listings x
  set own_checked_at = coalesce(x.own_checked_at, b.checked_at, '-infinity'),
    failing_since = case when $3 then coalesce(x.failing_since, $4) end
  from collab_store.batches b
  where b.batch_key = $1 and x.batch_key = $1 and x.scope_no = any($2::smallint[])
    and (x.own_checked_at is null or (x.failing_since is not null) <> $3)
)
update collab_store.annotations x
set own_checked_at = coalesce(x.own_checked_at, b.checked_at, '-infinity'),
  failing_since = case when $3 then coalesce(x.failing_since, $4) end
from collab_store.batches b
where b.batch_key = $1 and x.batch_key = $1 and x.scope_no = any($2)
  and (x.own_checked_at is null or (x.failing_since is not null) <> $3)
