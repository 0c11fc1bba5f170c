-- Updates stored users of one organization, locked in the order of their IDs. A lower source never overwrites a higher
-- one. Of two authors' records, that of the newer comment wins, and one without a time never overwrites one with a
-- time, so that the order of commits does not matter. The newest time is therefore stored even if it brings no other
-- change. The old version is kept if the name, the address or the listing changed; a change of only an undocumented
-- field creates no version, nor does an address that PRIVACY_EMAIL stores in another form or no longer. A version has
-- no address that PRIVACY_EMAIL excludes. All changes of a user in one run are one version, in whichever order it reads
-- authors, members and listings; at has millisecond precision. No version ends before it began, even if the clock was
-- set back.
-- Params: $1 organizationKey, $2 userIds, $3 digests, $4 sources, $5 sourceTimes[?], $6 listed (in the organization's
-- own listing), $7 at, $8 emails (PRIVACY_EMAIL), $9 runId, $10 and on user columns.
with new as (
  select *
  from unnest($2::text[], $3::bytea[], $4::smallint[], $5::timestamptz[], $6::boolean[],
      /* user columns: {parameter}::{type}[] */ $10::text[], $11::text[], $12::jsonb[] /* end */)
    as n (user_id, digest, source, source_at, listed, /* user columns: {column} */ name, email, rest /* end */)
), old as (
  select u.*, $8 <> 'drop' and (u.email is null or (u.email like 'hmac:%') = ($8 = 'hash')) as keeps_email,
    u.source < 3 and coalesce(u.version_at, u.first_seen_at)
      >= (select date_trunc('milliseconds', r.started_at) from sync.runs r where r.run_id = $9 and r.finished_at is null)
      as is_of_this_run
  from new n join collab_store.users u on u.organization_key = $1 and u.user_id = n.user_id
  where n.source > u.source
    or (n.source = u.source and u.source > 1 and (u.digest <> n.digest or n.listed > u.listed))
    or (n.source = u.source and u.source = 1
      and (n.source_at > u.source_at
        or (u.digest <> n.digest and n.source_at = u.source_at)
        or (u.source_at is null and (u.digest <> n.digest or n.source_at is not null))))
  order by u.user_id
  for no key update of u
), superseded as (
  select o.user_id, o.is_of_this_run is not true as begins,
    case
      when n.listed and not o.listed then case when o.removed_at is null then 'listed' else 'restored' end
      when (/* user columns of a version but addresses: o.{column} */ o.name /* end */)
        is distinct from (/* user columns of a version but addresses: n.{column} */ n.name /* end */)
        or (o.keeps_email and o.email is distinct from n.email) then 'edited'
    end as change
  from new n join old o using (user_id)
), kept as (
  insert into collab_store.user_versions (organization_key, user_id, version, change, listed, removed_at, valid_from, valid_to,
    email, /* user columns of a version but addresses: {column} */ name /* end */)
  select $1, o.user_id, coalesce(o.version, 1), case when o.version is null then 'added' else o.change end, o.listed,
    o.removed_at, coalesce(o.version_at, o.first_seen_at), greatest(o.version_at, o.first_seen_at, $7),
    case when o.keeps_email then o.email end, /* user columns of a version but addresses: o.{column} */ o.name /* end */
  from superseded s join old o using (user_id)
  where s.change is not null and s.begins
)
update collab_store.users u
set /* user columns: {column} = n.{column} */ name = n.name, email = n.email, rest = n.rest /* end */, digest = n.digest,
  source = n.source, source_at = n.source_at, listed = u.listed or n.listed,
  removed_at = case when n.listed then null else u.removed_at end,
  changed_at = case when u.digest = n.digest and u.listed >= n.listed then u.changed_at else $7 end,
  version = case when s.change is not null and s.begins then coalesce(u.version, 1) + 1 else u.version end,
  version_at = case when s.change is not null and s.begins then greatest(u.version_at, u.first_seen_at, $7) else u.version_at end,
  change = case when s.begins or (u.version > 1 and s.change <> 'edited') then coalesce(s.change, u.change) else u.change end
from new n join superseded s using (user_id)
where u.organization_key = $1 and u.user_id = n.user_id
