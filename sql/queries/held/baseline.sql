-- The baseline for listings that lack members: the maximum number of members in the last seven days or since a removal
-- was last applied, and users whose removal is held or was refused because too many are missing. The maximum is used
-- instead of the number at the beginning of that time: before its first run a listing has no members, and within a run
-- the rows of an organization's users begin at different times. Members who leave and join in one response cancel out.
-- Params: $1 organizationKeys, $2 documentKeys, $3 groupKeys, $4 at.
-- Never null: kind, scope_key, most_members, disputed_user_ids, disputed_user_ids[].
with listing as (
  select k.kind, k.scope_key, greatest($4::timestamptz - interval '7 days', max(h.resolved_at)) as since
  from (
    select 'organization' as kind, unnest($1::integer[]) as scope_key
    union all
    select 'document', unnest($2::integer[])
    union all
    select 'group', unnest($3::integer[])
  ) k
  left join sync.held h on h.kind = k.kind and h.scope_key = k.scope_key and h.resolution in ('accepted', 'repeated')
  group by k.kind, k.scope_key
), stay as (
  -- Most users of a listing came in one run, so few rows remain to sort after grouping by time.
  select kind, scope_key, began_at, ended_at, count(*) as users
  from (
    select 'organization', organization_key, coalesce(version_at, first_seen_at), null from collab_store.users
    where organization_key = any($1) and listed
    union all
    select 'organization', organization_key, valid_from, valid_to from collab_store.user_versions
    where organization_key = any($1) and listed
    union all
    select 'document', document_key, joined_at, removed_at from collab_store.document_users where document_key = any($2)
    union all
    select 'document', document_key, joined_at, removed_at from collab_store.past_memberships where document_key = any($2)
    union all
    select 'group', user_group_key, joined_at, removed_at from collab_store.user_group_members where user_group_key = any($3)
    union all
    select 'group', user_group_key, joined_at, removed_at from collab_store.past_memberships where user_group_key = any($3)
  ) s (kind, scope_key, began_at, ended_at)
  group by kind, scope_key, began_at, ended_at
), size as (
  select kind, scope_key, sum(sum(c.users)) over (partition by kind, scope_key order by c.at) as members
  from listing l
  join stay s using (kind, scope_key)
  cross join lateral (values (greatest(s.began_at, l.since), s.users), (s.ended_at, -s.users)) as c (at, users)
  where (s.ended_at is null or s.ended_at > l.since) and c.at is not null
  group by kind, scope_key, c.at
), most as (
  select kind, scope_key, max(members)::integer as members from size group by kind, scope_key
), disputed as (
  select kind, scope_key, array_agg(m.user_id) as user_ids
  from listing
  join sync.held h using (kind, scope_key)
  cross join unnest(h.missing_user_ids) as m (user_id)
  where h.is_loss and (h.resolved_at is null or h.is_standing)
  group by kind, scope_key
)
select kind, scope_key, coalesce(m.members, 0) as most_members, coalesce(d.user_ids, '{}') as disputed_user_ids
from listing
left join most m using (kind, scope_key)
left join disputed d using (kind, scope_key)
