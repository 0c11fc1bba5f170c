-- Batches of users scopes whose listings contain a user, in the order of their keys.
-- Params: $1 organizationKeys, $2 userId.
-- Never null: batch_key.
select batch_key
from (
  select p.batch_key from collab_store.document_users m join collab_store.documents p using (document_key)
  where m.user_id = $2 and p.organization_key = any($1)
  union
  select p.batch_key from collab_store.user_group_members m join collab_store.user_groups p using (user_group_key)
  where m.user_id = $2 and p.organization_key = any($1)
  union
  select b.batch_key from collab_store.users u
  join collab_store.batches b on b.organization_key = u.organization_key and b.operation = 'users' and b.batch_no = 0
  where u.user_id = $2 and u.organization_key = any($1)
) b
order by batch_key
