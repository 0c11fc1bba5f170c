-- A person who came back after an erasure of long ago has two rows: the one under the pseudonym stays.
-- Params: $1 organization keys, $2 user id, $3 pseudonym.
delete from collab_store.users u
where organization_key = any($1) and user_id = $2
  and exists (select from collab_store.users e where e.organization_key = u.organization_key and e.user_id = $3)
