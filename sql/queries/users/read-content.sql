-- Users stored of one organization with all their content: those with some ids, and those listed where that is asked for.
-- Params: $1 organizationKey, $2 userIds, $3 isListedToo (reads those listed too).
select user_id, /* user columns: {stored} */ name, email, rest::text as rest /* end */, source, listed, digest, changed_at
from collab_store.users
where organization_key = $1 and (user_id = any($2) or ($3 and listed))
