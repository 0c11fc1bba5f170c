-- Empties the earlier versions of an erased person, and puts the pseudonym in the place of the id.
-- Params: $1 organizationKey, $2 userId, $3 pseudonym.
update collab_store.user_versions
set user_id = $3, /* user columns of a version: {column} = null */ name = null, email = null /* end */
where organization_key = $1 and user_id = $2
