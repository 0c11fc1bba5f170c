-- Puts the pseudonym in the place of a member's id. One who came back after an erasure of long ago is there twice: the
-- row under the pseudonym stays.
-- Params: $1 organization keys, $2 user id, $3 pseudonym.
with twice as (
  delete from collab_store.user_group_members m
  using collab_store.user_groups p
  where p.user_group_key = m.user_group_key and p.organization_key = any($1) and m.user_id = $2
    and exists (select from collab_store.user_group_members e where e.user_group_key = m.user_group_key and e.user_id = $3)
)
update collab_store.user_group_members m
set user_id = $3
from collab_store.user_groups p
where p.user_group_key = m.user_group_key and p.organization_key = any($1) and m.user_id = $2
  and not exists (select from collab_store.user_group_members e where e.user_group_key = m.user_group_key and e.user_id = $3)
