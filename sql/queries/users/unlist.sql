-- Ends the listing of users whom the organization's own listing no longer contains. They keep their names, which a
-- document's listing may correct from now on, so their source becomes 2. The old version is kept.
-- Params: $1 organizationKey, $2 userIds, $3 at.
with old as (
  select * from collab_store.users
  where organization_key = $1 and user_id = any($2) and listed
  order by user_id
  for no key update
), kept as (
  insert into collab_store.user_versions (organization_key, user_id, version, change, listed, removed_at, valid_from, valid_to,
    /* user columns of a version: {column} */ name, email /* end */)
  select organization_key, user_id, coalesce(version, 1), case when version is null then 'added' else change end, listed,
    removed_at, coalesce(version_at, first_seen_at), greatest(version_at, first_seen_at, $3),
    /* user columns of a version: {column} */ name, email /* end */
  from old
)
update collab_store.users u
set listed = false, removed_at = $3, changed_at = $3, source = 2, version = coalesce(u.version, 1) + 1,
  version_at = greatest(u.version_at, u.first_seen_at, $3), change = 'removed'
from old o
where u.organization_key = o.organization_key and u.user_id = o.user_id
