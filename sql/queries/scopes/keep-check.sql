-- For scopes without a successful check this time, keeps the time of their last successful check and whether this check
-- failed. Unchanged values are not written, so that a scope that fails every night costs nothing here.
-- Params: $1 organizationKeys, $2 groupKeys, $3 documentKeys, $4 annotationKeys, $5 isFailing, $6 at.
with organization as (
  update collab_store.organizations x
  set own_checked_at = coalesce(x.own_checked_at, b.checked_at, '-infinity'),
    failing_since = case when $5 then coalesce(x.failing_since, $6) end
  from collab_store.batches b
  where x.organization_key = any($1) and b.organization_key = x.organization_key and b.operation = 'users' and b.batch_no = 0
    and (x.own_checked_at is null or (x.failing_since is not null) <> $5)
), user_group as (
  update collab_store.user_groups x
  set own_checked_at = coalesce(x.own_checked_at, b.checked_at, '-infinity'),
    failing_since = case when $5 then coalesce(x.failing_since, $6) end
  from collab_store.batches b
  where x.user_group_key = any($2) and b.batch_key = x.batch_key
    and (x.own_checked_at is null or (x.failing_since is not null) <> $5)
), document as (
  update collab_store.documents x
  set own_checked_at = coalesce(x.own_checked_at, b.checked_at, '-infinity'),
    failing_since = case when $5 then coalesce(x.failing_since, $6) end
  from collab_store.batches b
  where x.document_key = any($3) and b.batch_key = x.batch_key
    and (x.own_checked_at is null or (x.failing_since is not null) <> $5)
)
update collab_store.annotations x
set own_checked_at = coalesce(x.own_checked_at, b.checked_at, '-infinity'),
  failing_since = case when $5 then coalesce(x.failing_since, $6) end
from collab_store.batches b
where x.annotation_key = any($4) and b.batch_key = x.batch_key
  and (x.own_checked_at is null or (x.failing_since is not null) <> $5)
