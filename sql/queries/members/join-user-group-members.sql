-- Adds members, and restores former ones, whose earlier stay is kept.
-- Params: $1 keys, $2 userIds, $3 at.
with new as (
  select * from unnest($1::int[], $2::text[]) as n (user_group_key, user_id)
), kept as (
  insert into collab_store.past_memberships (user_group_key, user_id, joined_at, removed_at)
  select m.user_group_key, m.user_id, m.joined_at, m.removed_at
  from new join collab_store.user_group_members m using (user_group_key, user_id)
  where m.removed_at is not null
)
insert into collab_store.user_group_members as m (user_group_key, user_id, first_seen_at, joined_at)
select user_group_key, user_id, $3, $3 from new
on conflict (user_group_key, user_id) do update set joined_at = greatest(m.removed_at, $3), removed_at = null where m.removed_at is not null
