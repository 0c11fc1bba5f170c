-- A person whom a run has stored under the pseudonym already has two rows: that one stays, with the older time of the two.
-- The earlier versions of the other one go: they would overlap with those of the one that stays, of which it is then not
-- known how it was before.
-- Params: $1 organizationKey, $2 userId, $3 pseudonym.
with twice as (
  delete from collab_store.users u
  where organization_key = $1 and user_id = $2
    and exists (select from collab_store.users e where e.organization_key = u.organization_key and e.user_id = $3)
  returning first_seen_at
), gone as (
  delete from collab_store.user_versions v
  where organization_key = $1 and user_id = $2 and exists (select from twice)
)
update collab_store.users e
set first_seen_at = least(e.first_seen_at, t.first_seen_at), version = coalesce(e.version, 1) + 1,
  version_at = coalesce(e.version_at, e.first_seen_at)
from twice t
where e.organization_key = $1 and e.user_id = $3
