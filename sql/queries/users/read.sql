-- Stored data of some users of one organization.
-- Params: $1 organizationKey, $2 userIds.
select user_id, source, listed, digest, source_at
from collab_store.users
where organization_key = $1 and user_id = any($2)
