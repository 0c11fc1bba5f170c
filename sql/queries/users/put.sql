-- Adds or changes users of one organization, in the order of their ids: every transaction locks them in that order, so
-- that two never wait for each other in a circle. A lower source never overwrites a higher one; of two authors' records
-- the newer comment's wins, and one without a time never over one with a time: which is committed first must not decide.
-- So the newest time is kept, also where it shows the same.
-- Params: $1 organizationKey, $2 userIds, $3 digests, $4 sources, $5 sourceTimes[?], $6 listed (the organization's own
-- listing said so), $7 at, $8 and on user columns.
insert into collab_store.users as u (organization_key, user_id, digest, source, source_at, listed, first_seen_at, changed_at,
  /* user columns: {column} */ name, email, rest /* end */)
select $1, n.user_id, n.digest, n.source, n.source_at, n.listed, $7, $7, /* user columns: n.{column} */ n.name, n.email,
  n.rest /* end */
from unnest($2::text[], $3::bytea[], $4::smallint[], $5::timestamptz[], $6::boolean[],
    /* user columns: {parameter}::{type}[] */ $8::text[], $9::text[], $10::jsonb[] /* end */)
  as n (user_id, digest, source, source_at, listed, /* user columns: {column} */ name, email, rest /* end */)
order by n.user_id
on conflict (organization_key, user_id) do update
set /* user columns: {column} = excluded.{column} */ name = excluded.name, email = excluded.email,
  rest = excluded.rest /* end */, digest = excluded.digest,
  source = excluded.source, source_at = excluded.source_at, listed = u.listed or excluded.listed,
  removed_at = case when excluded.listed then null else u.removed_at end,
  changed_at = case
    when u.digest = excluded.digest and u.listed >= excluded.listed then u.changed_at
    else excluded.changed_at
  end
where excluded.source > u.source
  or (excluded.source = u.source and u.source > 1
    and (u.digest <> excluded.digest or excluded.listed > u.listed))
  or (excluded.source = u.source and u.source = 1
    and (excluded.source_at > u.source_at
      or (u.digest <> excluded.digest and excluded.source_at = u.source_at)
      or (u.source_at is null and (u.digest <> excluded.digest or excluded.source_at is not null))))
