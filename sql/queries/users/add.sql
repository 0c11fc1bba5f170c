-- Adds users of one organization who are not stored yet, in the order of user_id: every transaction locks them in that
-- order, to avoid deadlocks.
-- Params: $1 organizationKey, $2 userIds, $3 digests, $4 sources, $5 sourceTimes[?], $6 listed (in the organization's
-- own listing), $7 at, $8 and on user columns.
insert into collab_store.users (organization_key, user_id, digest, source, source_at, listed, first_seen_at, changed_at,
  /* user columns: {column} */ name, email, rest /* end */)
select $1, n.user_id, n.digest, n.source, n.source_at, n.listed, $7, $7, /* user columns: n.{column} */ n.name, n.email,
  n.rest /* end */
from unnest($2::text[], $3::bytea[], $4::smallint[], $5::timestamptz[], $6::boolean[],
    /* user columns: {parameter}::{type}[] */ $8::text[], $9::text[], $10::jsonb[] /* end */)
  as n (user_id, digest, source, source_at, listed, /* user columns: {column} */ name, email, rest /* end */)
order by n.user_id collate "C"
on conflict (organization_key, user_id) do nothing
