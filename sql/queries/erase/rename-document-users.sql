-- Puts the pseudonym in the place of a member's id. One who came back after an erasure of long ago is there twice: the
-- row under the pseudonym stays.
-- Params: $1 organization keys, $2 user id, $3 pseudonym.
with twice as (
  delete from collab_store.document_users m
  using collab_store.documents p
  where p.document_key = m.document_key and p.organization_key = any($1) and m.user_id = $2
    and exists (select from collab_store.document_users e where e.document_key = m.document_key and e.user_id = $3)
)
update collab_store.document_users m
set user_id = $3
from collab_store.documents p
where p.document_key = m.document_key and p.organization_key = any($1) and m.user_id = $2
  and not exists (select from collab_store.document_users e where e.document_key = m.document_key and e.user_id = $3)
