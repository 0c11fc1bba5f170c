-- Writes users as they are once a person is erased.
-- Params: $1 organizationKeys, $2 userIds, $3 newUserIds, $4 digests, $5 and on user columns.
update collab_store.users u
set user_id = n.new_user_id, /* user columns: {column} = n.{column} */ name = n.name, email = n.email,
  rest = n.rest /* end */, digest = n.digest,
  changed_at = greatest(u.changed_at, now())
from unnest($1::int[], $2::text[], $3::text[], $4::bytea[], /* user columns: {parameter}::{type}[] */ $5::text[],
  $6::text[], $7::jsonb[] /* end */)
  as n (organization_key, user_id, new_user_id, digest, /* user columns: {column} */ name, email, rest /* end */)
where u.organization_key = n.organization_key and u.user_id = n.user_id
