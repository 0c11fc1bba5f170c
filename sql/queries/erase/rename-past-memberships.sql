-- Puts the pseudonym in the place of a former member's id.
-- Params: $1 organizationKeys, $2 userId, $3 pseudonym.
update collab_store.past_memberships m
set user_id = $3
where m.user_id = $2
  and (m.document_key in (select document_key from collab_store.documents where organization_key = any($1))
    or m.user_group_key in (select user_group_key from collab_store.user_groups where organization_key = any($1)))
