-- Writes users as they are once a person is erased.
-- Params: $1 organizationKeys, $2 userIds, $3 newUserIds, $4 names[?], $5 emails[?], $6 rests[?], $7 digests.
update collab_store.users u
set user_id = n.new_user_id, name = n.name, email = n.email, rest = n.rest::jsonb, digest = n.digest,
  changed_at = greatest(u.changed_at, now())
from unnest($1::int[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bytea[])
  as n (organization_key, user_id, new_user_id, name, email, rest, digest)
where u.organization_key = n.organization_key and u.user_id = n.user_id
