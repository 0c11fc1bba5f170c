-- Puts the pseudonym in the place of a member's id, in the listings of one batch. A member who is there twice, because a run has
-- stored the pseudonym already, keeps that row, and the older time of the two.
-- Params: $1 batchKey, $2 userId, $3 pseudonym.
with renamed as (
  delete from collab_store.document_users m
  using collab_store.listings l
  where l.batch_key = $1 and l.kind = 'document' and l.scope_key = m.document_key and m.user_id = $2
  returning m.*
)
insert into collab_store.document_users as e (document_key, first_seen_at, joined_at, removed_at, user_id)
select document_key, first_seen_at, joined_at, removed_at, $3 from renamed
on conflict (document_key, user_id) do update
set first_seen_at = least(e.first_seen_at, excluded.first_seen_at), joined_at = least(e.joined_at, excluded.joined_at)
