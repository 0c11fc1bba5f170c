-- Batches of listings that contain a user, in the order of their keys.
-- Params: $1 organizationKeys, $2 userId.
-- Never null: batch_key.
select distinct b.batch_key
from (
  select 'document' as kind, document_key as scope_key
  from collab_store.documents join collab_store.document_users using (document_key)
  where organization_key = any($1) and user_id = $2
  union all
  select 'group', user_group_key
  from collab_store.user_groups join collab_store.user_group_members using (user_group_key)
  where organization_key = any($1) and user_id = $2
  union all
  select 'organization', organization_key from collab_store.users where user_id = $2 and organization_key = any($1)
) m
join collab_store.listings l using (kind, scope_key)
join collab_store.batches b using (batch_key)
where b.organization_key = any($1)
order by 1
