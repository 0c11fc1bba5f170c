-- Current and former members of some listings.
-- Params: $1 keys.
-- Never null: removed.
select document_key as key, user_id, removed_at is not null as removed
from collab_store.document_users
where document_key = any($1)
