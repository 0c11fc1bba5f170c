-- Stored users of one organization with all their content: those with some IDs and, optionally, those listed.
-- Params: $1 organizationKey, $2 userIds, $3 isListedToo (includes listed users).
select user_id, /* user columns: {stored} */ name, email, rest::text as rest /* end */, source, listed, digest, changed_at
from collab_store.users
where organization_key = $1 and (user_id = any($2) or ($3 and listed))
