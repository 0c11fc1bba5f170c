-- Users of one organization with all that is stored of them, locked in the order in which commits write them.
-- Params: $1 organizationKey, $2 userIds.
select organization_key, user_id, /* user columns: {stored} */ name, email, rest::text as rest /* end */
from collab_store.users
where organization_key = $1 and user_id = any($2)
order by user_id
for update
