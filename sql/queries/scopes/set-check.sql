-- Sets the check time of scopes that differ from their batch; null makes the batch's time apply again.
-- Params: $1 organizationKeys, $2 groupKeys, $3 documentKeys, $4 annotationKeys, $5 at?.
with organization as (
  update collab_store.organizations set own_checked_at = $5, failing_since = null where organization_key = any($1)
), user_group as (
  update collab_store.user_groups set own_checked_at = $5, failing_since = null where user_group_key = any($2)
), document as (
  update collab_store.documents set own_checked_at = $5, failing_since = null where document_key = any($3)
)
update collab_store.annotations set own_checked_at = $5, failing_since = null where annotation_key = any($4)
