-- The users of listings, and whether they left. Those who left an organization are left out.
-- Params: $1 documentKeys, $2 userGroupKeys, $3 organizationKeys.
-- Never null: kind, key, user_id, removed.
select 'document' as kind, document_key as key, user_id, removed_at is not null as removed
from collab_store.document_users
where document_key = any($1)
union all
select 'group', user_group_key, user_id, removed_at is not null
from collab_store.user_group_members
where user_group_key = any($2)
union all
select 'organization', organization_key, user_id, false
from collab_store.users
where organization_key = any($3) and listed
