-- Ends the stay of members whom a complete listing no longer contains.
-- Params: $1 keys, $2 userIds, $3 at.
update collab_store.document_users m
set removed_at = greatest(m.joined_at, $3)
from unnest($1::int[], $2::text[]) as n (document_key, user_id)
where m.document_key = n.document_key and m.user_id = n.user_id and m.removed_at is null
