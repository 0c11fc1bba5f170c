-- As erase/rename-document-users, for members of user groups.
-- Params: $1 batchKey, $2 userId, $3 pseudonym.
with renamed as (
  delete from collab_store.user_group_members m
  using collab_store.listings l
  where l.batch_key = $1 and l.kind = 'group' and l.scope_key = m.user_group_key and m.user_id = $2
  returning m.*
)
insert into collab_store.user_group_members as e (user_group_key, first_seen_at, joined_at, removed_at, user_id)
select user_group_key, first_seen_at, joined_at, removed_at, $3 from renamed
on conflict (user_group_key, user_id) do update
set first_seen_at = least(e.first_seen_at, excluded.first_seen_at), joined_at = least(e.joined_at, excluded.joined_at)
