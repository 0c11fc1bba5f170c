-- Puts the pseudonym in the place of a member's id, in the listings of one batch. Who is there twice, because a run has
-- stored the pseudonym already, keeps that row, and the older time of the two.
-- Params: $1 batchKey, $2 userId, $3 pseudonym.
with twice as (
  delete from collab_store.user_group_members m
  using collab_store.user_groups p
  where p.user_group_key = m.user_group_key and p.batch_key = $1 and m.user_id = $2
    and exists (select from collab_store.user_group_members e where e.user_group_key = m.user_group_key and e.user_id = $3)
  returning m.user_group_key, m.first_seen_at, m.joined_at
), merged as (
  update collab_store.user_group_members e
  set first_seen_at = least(e.first_seen_at, t.first_seen_at), joined_at = least(e.joined_at, t.joined_at)
  from twice t
  where e.user_group_key = t.user_group_key and e.user_id = $3
)
update collab_store.user_group_members m
set user_id = $3
from collab_store.user_groups p
where p.user_group_key = m.user_group_key and p.batch_key = $1 and m.user_id = $2
  and not exists (select from collab_store.user_group_members e where e.user_group_key = m.user_group_key and e.user_id = $3)
