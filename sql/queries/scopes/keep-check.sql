-- For scopes without a successful check this time, keeps the time of their last successful check and whether this check
-- failed. Unchanged values are not written, so that a scope that fails every night costs nothing here.
-- Params: $1 batchKey, $2 scopeNos, $3 isFailing, $4 at.
with organization as (
  update collab_store.organizations x
  set own_checked_at = coalesce(x.own_checked_at, b.checked_at, '-infinity'),
    failing_since = case when $3 then coalesce(x.failing_since, $4) end
  from collab_store.batches b
  where b.batch_key = $1 and b.operation = 'users' and b.batch_no = 0 and 0 = any($2::smallint[])
    and x.organization_key = b.organization_key
    and (x.own_checked_at is null or (x.failing_since is not null) <> $3)
), user_group as (
  update collab_store.user_groups x
  set own_checked_at = coalesce(x.own_checked_at, b.checked_at, '-infinity'),
    failing_since = case when $3 then coalesce(x.failing_since, $4) end
  from collab_store.batches b
  where b.batch_key = $1 and x.batch_key = $1 and x.scope_no = any($2)
    and (x.own_checked_at is null or (x.failing_since is not null) <> $3)
), document as (
  update collab_store.documents x
  set own_checked_at = coalesce(x.own_checked_at, b.checked_at, '-infinity'),
    failing_since = case when $3 then coalesce(x.failing_since, $4) end
  from collab_store.batches b
  where b.batch_key = $1 and x.batch_key = $1 and x.scope_no = any($2)
    and (x.own_checked_at is null or (x.failing_since is not null) <> $3)
)
update collab_store.annotations x
set own_checked_at = coalesce(x.own_checked_at, b.checked_at, '-infinity'),
  failing_since = case when $3 then coalesce(x.failing_since, $4) end
from collab_store.batches b
where b.batch_key = $1 and x.batch_key = $1 and x.scope_no = any($2)
  and (x.own_checked_at is null or (x.failing_since is not null) <> $3)
