-- Puts the pseudonym in the place of a member's id, in the listings of one batch. Who is there twice, because a run has
-- stored the pseudonym already, keeps that row, and the older time of the two.
-- Params: $1 batchKey, $2 userId, $3 pseudonym.
with twice as (
  delete from collab_store.document_users m
  using collab_store.documents p
  where p.document_key = m.document_key and p.batch_key = $1 and m.user_id = $2
    and exists (select from collab_store.document_users e where e.document_key = m.document_key and e.user_id = $3)
  returning m.document_key, m.first_seen_at, m.joined_at
), merged as (
  update collab_store.document_users e
  set first_seen_at = least(e.first_seen_at, t.first_seen_at), joined_at = least(e.joined_at, t.joined_at)
  from twice t
  where e.document_key = t.document_key and e.user_id = $3
)
update collab_store.document_users m
set user_id = $3
from collab_store.documents p
where p.document_key = m.document_key and p.batch_key = $1 and m.user_id = $2
  and not exists (select from collab_store.document_users e where e.document_key = m.document_key and e.user_id = $3)
