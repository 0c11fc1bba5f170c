-- The maximum number of users that each listing has had since a time. The maximum is used instead of the number at that
-- time: before its first run a listing has no members, and within a run the rows of an organization's users begin at
-- different times. Members who leave and join in one response cancel out.
-- Params: $1 kinds, $2 scopeKeys, $3 since (one for each of the listings).
-- Never null: kind, scope_key, members.
with listing as materialized (
  select * from unnest($1::text[], $2::integer[], $3::timestamptz[]) as l (kind, scope_key, since)
), stay as (
  -- Most users of a listing came in one run, so few rows remain to sort after grouping by time.
  select kind, scope_key, began_at, ended_at, count(*) as users
  from (
    select 'organization', organization_key, coalesce(version_at, first_seen_at), null from collab_store.users
    where organization_key = any(array(select scope_key from listing where kind = 'organization')) and listed
    union all
    select 'organization', organization_key, valid_from, valid_to from collab_store.user_versions
    where organization_key = any(array(select scope_key from listing where kind = 'organization')) and listed
    union all
    select 'document', document_key, joined_at, removed_at from collab_store.document_users
    where document_key = any(array(select scope_key from listing where kind = 'document'))
    union all
    select 'document', document_key, joined_at, removed_at from collab_store.past_memberships
    where document_key = any(array(select scope_key from listing where kind = 'document'))
    union all
    select 'group', user_group_key, joined_at, removed_at from collab_store.user_group_members
    where user_group_key = any(array(select scope_key from listing where kind = 'group'))
    union all
    select 'group', user_group_key, joined_at, removed_at from collab_store.past_memberships
    where user_group_key = any(array(select scope_key from listing where kind = 'group'))
  ) s (kind, scope_key, began_at, ended_at)
  group by kind, scope_key, began_at, ended_at
), size as (
  select kind, scope_key, sum(sum(c.users)) over (partition by kind, scope_key order by c.at) as members
  from listing l
  join stay s using (kind, scope_key)
  cross join lateral (values (greatest(s.began_at, l.since), s.users), (s.ended_at, -s.users)) as c (at, users)
  where (s.ended_at is null or s.ended_at > l.since) and c.at is not null
  group by kind, scope_key, c.at
)
select kind, scope_key, max(members)::integer as members from size group by kind, scope_key
