-- Current and former members of some listings.
-- Params: $1 keys.
-- Never null: removed.
select user_group_key as key, user_id, removed_at is not null as removed
from collab_store.user_group_members
where user_group_key = any($1)
