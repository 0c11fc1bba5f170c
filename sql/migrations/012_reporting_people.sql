-- Users for analysts, and when the stored data was checked.

create view reporting.memberships as
select m.organization_id, m.kind, m.document_id, m.organization_user_group_id, m.user_id, u.name, u.email, m.since, m.until,
  l.checked_at, l.is_stale, m.in_catalog, coalesce(d.removal_held_since, g.removal_held_since) as removal_held_since,
  coalesce(d.removal_refused_at, g.removal_refused_at) as removal_refused_at,
  m.organization_name, m.document_name, m.user_group_name
from (
  select o.organization_key, o.organization_id, 'document' as kind, d.document_id, null::text as organization_user_group_id,
    s.user_id, s.joined_at as since, s.removed_at as until, 'document' as listing_kind, d.document_key as listing_key,
    d.active and o.active as in_catalog, d.document_key, null::integer as user_group_key,
    o.name as organization_name, d.name as document_name, null::text as user_group_name
  from collab_store.document_users s
  join collab_store.documents d using (document_key)
  join collab_store.organizations o using (organization_key)
  union all
  select o.organization_key, o.organization_id, 'user group', null, g.organization_user_group_id,
    s.user_id, s.joined_at, s.removed_at, 'group', g.user_group_key, g.active and o.active,
    null, g.user_group_key, o.name, null, g.name
  from collab_store.user_group_members s
  join collab_store.user_groups g using (user_group_key)
  join collab_store.organizations o using (organization_key)
  union all
  select o.organization_key, o.organization_id, 'document', d.document_id, null, s.user_id, s.joined_at, s.removed_at,
    'document', d.document_key, d.active and o.active, null, null, o.name, d.name, null
  from collab_store.past_memberships s
  join collab_store.documents d using (document_key)
  join collab_store.organizations o using (organization_key)
  union all
  select o.organization_key, o.organization_id, 'user group', null, g.organization_user_group_id, s.user_id, s.joined_at, s.removed_at,
    'group', g.user_group_key, g.active and o.active, null, null, o.name, null, g.name
  from collab_store.past_memberships s
  join collab_store.user_groups g using (user_group_key)
  join collab_store.organizations o using (organization_key)
) m
left join collab_store.users u on u.organization_key = m.organization_key and u.user_id = m.user_id
left join collab_store.checked_listings l
  on l.kind = m.listing_kind and l.scope_key = m.listing_key and l.operation = 'users'
left join collab_store.disputed_document_users d on d.document_key = m.document_key and d.user_id = m.user_id
left join collab_store.disputed_user_group_members g on g.user_group_key = m.user_group_key and g.user_id = m.user_id;
comment on view reporting.memberships is 'One row per stay of a user in a document or user group, including past stays.';
comment on column reporting.memberships.organization_id is 'The service''s organizationId.';
comment on column reporting.memberships.kind is 'What the user is in: document or user group.';
comment on column reporting.memberships.document_id is 'The service''s documentId; null for a user group.';
comment on column reporting.memberships.organization_user_group_id is 'The service''s ID of the organization user group; null for a document.';
comment on column reporting.memberships.user_id is 'The service''s userId.';
comment on column reporting.memberships.name is 'The user''s current name.';
comment on column reporting.memberships.email is 'The user''s current e-mail address.';
comment on column reporting.memberships.since is 'When a check first found the user in this stay. If that was the first check of the listing, the stay may be older.';
comment on column reporting.memberships.until is 'When a check first no longer found the user; null while current.';
comment on column reporting.memberships.checked_at is 'Last successful check of that user listing; null if none.';
comment on column reporting.memberships.is_stale is 'True if that listing may be out of date.';
comment on column reporting.memberships.in_catalog is 'Whether the catalog lists the document or user group.';
comment on column reporting.memberships.removal_held_since is 'Since when the removal has been pending approval; null if none is.';
comment on column reporting.memberships.removal_refused_at is 'When an operator refused this removal; null if none did.';
comment on column reporting.memberships.organization_name is 'The organization''s display name; null if none.';
comment on column reporting.memberships.document_name is 'The document''s display name; null if none.';
comment on column reporting.memberships.user_group_name is 'The user group''s display name; null if none.';

create function reporting.memberships_at(known_at timestamptz)
returns table (organization_id text, kind text, document_id text, organization_user_group_id text, user_id text, name text,
  email text, since timestamptz)
language sql stable
as $$
  select m.organization_id, m.kind, m.document_id, m.organization_user_group_id, m.user_id, m.name, m.email, m.since
  from reporting.memberships m
  where m.since <= known_at and (m.until is null or m.until > known_at)
$$;
comment on function reporting.memberships_at(timestamptz) is 'Members of documents and user groups as known to collab-sync at the given time, without pruned stays. Users have their current names; reporting.user_directory_at() has earlier ones.';

create view reporting.user_directory as
select o.organization_id, p.user_id, p.name, p.email, p.listed, p.documents, p.user_groups, p.document_ids,
  p.organization_user_group_ids, p.first_seen_at, p.left_at,
  l.checked_at, l.is_stale, p.listed and o.active as in_catalog, coalesce(s.stale_listings, 0) as stale_listings,
  p.documents_not_in_catalog, p.user_groups_not_in_catalog, p.removal_held_since, p.removal_refused_at
from collab_store.organizations o
left join collab_store.checked_listings l on l.kind = 'organization' and l.scope_key = o.organization_key and l.operation = 'users'
left join collab_store.organization_checks s on s.organization_key = o.organization_key
cross join lateral (
  select u.user_id, u.name, u.email, u.listed, coalesce(d.documents, 0) as documents, coalesce(g.user_groups, 0) as user_groups,
    coalesce(d.document_ids, '{}') as document_ids,
    coalesce(g.organization_user_group_ids, '{}') as organization_user_group_ids, u.first_seen_at, u.removed_at as left_at,
    coalesce(d.not_in_catalog, 0) as documents_not_in_catalog, coalesce(g.not_in_catalog, 0) as user_groups_not_in_catalog,
    r.removal_held_since, r.removal_refused_at
  from collab_store.users u
  left join (
    select s.user_id, count(*) as documents, array_agg(x.document_id order by x.document_id) as document_ids,
      count(*) filter (where not (x.active and o.active)) as not_in_catalog
    from collab_store.documents x join collab_store.document_users s using (document_key)
    where x.organization_key = o.organization_key and s.removed_at is null
    group by s.user_id
  ) d using (user_id)
  left join (
    select s.user_id, count(*) as user_groups,
      array_agg(x.organization_user_group_id order by x.organization_user_group_id) as organization_user_group_ids,
      count(*) filter (where not (x.active and o.active)) as not_in_catalog
    from collab_store.user_groups x join collab_store.user_group_members s using (user_group_key)
    where x.organization_key = o.organization_key and s.removed_at is null
    group by s.user_id
  ) g using (user_id)
  left join (
    select m.user_id collate "C" as user_id, min(r.removal_held_since) as removal_held_since,
      max(r.removal_refused_at) as removal_refused_at
    from collab_store.disputed_removals r
    cross join unnest(r.missing_user_ids) m (user_id)
    where r.operation = 'users' and r.kind = 'organization' and r.scope_key = o.organization_key
    group by 1
  ) r using (user_id)
  where u.organization_key = o.organization_key
  offset 0 -- one organization after the other, so that memberships are aggregated once per organization and not once per user
) p;
comment on view reporting.user_directory is 'One row per user and organization: their documents and user groups, and users who left. Key: organization_id, user_id.';
comment on column reporting.user_directory.organization_id is 'The service''s organizationId.';
comment on column reporting.user_directory.user_id is 'The service''s userId.';
comment on column reporting.user_directory.name is 'As in collab.users.';
comment on column reporting.user_directory.email is 'As in collab.users.';
comment on column reporting.user_directory.listed is 'Whether the organization''s own listing contains the user. Guests and authors may never have been in it.';
comment on column reporting.user_directory.documents is 'Documents of the user, including those that left the catalog.';
comment on column reporting.user_directory.user_groups is 'User groups of the user, including those that left the catalog.';
comment on column reporting.user_directory.document_ids is 'documentIds of these documents, sorted.';
comment on column reporting.user_directory.organization_user_group_ids is 'IDs of these user groups, sorted.';
comment on column reporting.user_directory.first_seen_at is 'As in collab.users.';
comment on column reporting.user_directory.left_at is 'When a check first no longer found the user in the organization''s listing; null while or never listed.';
comment on column reporting.user_directory.checked_at is 'As in collab.users.';
comment on column reporting.user_directory.is_stale is 'As in collab.users. The column stale_listings is about documents and user_groups.';
comment on column reporting.user_directory.in_catalog is 'As in collab.users.';
comment on column reporting.user_directory.stale_listings is 'Listings of the organization (its own and those of its documents and user groups) that may be out of date.';
comment on column reporting.user_directory.documents_not_in_catalog is 'Documents that left the catalog.';
comment on column reporting.user_directory.user_groups_not_in_catalog is 'User groups that left the catalog.';
comment on column reporting.user_directory.removal_held_since is 'As in collab.users. reporting.memberships has it for documents and user groups.';
comment on column reporting.user_directory.removal_refused_at is 'As in collab.users.';

create function reporting.user_directory_at(known_at timestamptz)
returns table (organization_id text, user_id text, name text, email text, listed boolean, documents bigint, user_groups bigint,
  document_ids text[], organization_user_group_ids text[], first_seen_at timestamptz, left_at timestamptz, is_known_then boolean)
language sql stable
as $$
  select p.organization_id, p.user_id, v.name, v.email, v.listed,
    case when c.user_id is null then coalesce(m.documents, 0) end,
    case when c.user_id is null then coalesce(m.user_groups, 0) end,
    case when c.user_id is null then coalesce(m.document_ids, '{}') end,
    case when c.user_id is null then coalesce(m.organization_user_group_ids, '{}') end,
    p.first_seen_at, v.removed_at, v.user_id is not null and c.user_id is null
  from collab.users p
  left join collab.user_versions v on v.organization_id = p.organization_id and v.user_id = p.user_id
    and v.valid_from <= known_at and (v.valid_to is null or v.valid_to > known_at)
  left join (
    select s.organization_id, s.user_id, count(s.document_id) as documents, count(s.organization_user_group_id) as user_groups,
      array_agg(s.document_id order by s.document_id collate "C") filter (where s.document_id is not null) as document_ids,
      array_agg(s.organization_user_group_id order by s.organization_user_group_id collate "C")
        filter (where s.organization_user_group_id is not null) as organization_user_group_ids
    from reporting.memberships_at(known_at) s
    group by s.organization_id, s.user_id
  ) m on m.organization_id = p.organization_id and m.user_id = p.user_id
  -- Users with stays by that time, all of which were pruned.
  left join (
    select d.organization_id, d.user_id
    from collab.document_users d
    where d.first_seen_at <= known_at and not exists (select from reporting.memberships s
      where s.organization_id = d.organization_id and s.document_id = d.document_id and s.user_id = d.user_id and s.since <= known_at)
    union
    select g.organization_id, g.user_id
    from collab.user_group_members g
    where g.first_seen_at <= known_at and not exists (select from reporting.memberships s
      where s.organization_id = g.organization_id and s.organization_user_group_id = g.organization_user_group_id
        and s.user_id = g.user_id and s.since <= known_at)
  ) c on c.organization_id = p.organization_id and c.user_id = p.user_id
  where p.first_seen_at <= known_at
$$;
comment on function reporting.user_directory_at(timestamptz) is 'reporting.user_directory as known to collab-sync at the given time. If is_known_then is false, part of that state was pruned or not recorded: name, email, listed and left_at, or documents, user_groups and their IDs, are null.';

create view reporting.freshness as
select l.kind as level, o.organization_id, d.document_id, null::text as annotation_id, null::text as organization_user_group_id,
  l.checked_at, now() - l.checked_at as age, l.failing_since, l.is_stale,
  o.name as organization_name, d.name as document_name, null::text as user_group_name, l.operation
from collab_store.checked_listings l
join collab_store.organizations o using (organization_key)
left join collab_store.documents d on l.kind = 'document' and d.document_key = l.scope_key
where l.kind <> 'group' and l.active and o.active
union all
select 'user group', o.organization_id, null, null, g.organization_user_group_id, l.checked_at, now() - l.checked_at,
  l.failing_since, l.is_stale, o.name, null, g.name, l.operation
from collab_store.checked_listings l
join collab_store.organizations o using (organization_key)
join collab_store.user_groups g on g.user_group_key = l.scope_key
where l.kind = 'group' and l.active and o.active
union all
select 'annotation', x.organization_id, x.document_id, x.annotation_id, null, x.checked_at, now() - x.checked_at,
  x.failing_since, x.is_stale, o.name, d.name, null, 'comments'
from collab.annotations x
left join collab_store.organizations o using (organization_id)
left join collab_store.documents d on d.organization_key = o.organization_key and d.document_id = x.document_id
where x.in_catalog;
comment on view reporting.freshness is 'One row per scope of the catalog (an operation of an organization, user group, document or annotation), with its last successful check.';
comment on column reporting.freshness.level is 'What the row describes: organization, user group, document or annotation.';
comment on column reporting.freshness.organization_id is 'The service''s organizationId.';
comment on column reporting.freshness.document_id is 'The service''s documentId, for documents and annotations.';
comment on column reporting.freshness.annotation_id is 'The service''s annotationId, for annotations.';
comment on column reporting.freshness.organization_user_group_id is 'The service''s ID of the user group, for user groups.';
comment on column reporting.freshness.checked_at is 'Last successful check; null if none.';
comment on column reporting.freshness.age is 'Time since checked_at; null if never checked.';
comment on column reporting.freshness.failing_since is 'First failed check since the last successful one; null if none failed.';
comment on column reporting.freshness.is_stale is 'True if the stored data may be out of date: the last check failed, there was none, or the last successful one is older than FRESHNESS_PROMISE allows or than a full run that was stopped because the service could not be called.';
comment on column reporting.freshness.organization_name is 'The organization''s display name; null if none.';
comment on column reporting.freshness.document_name is 'The document''s display name; null if none.';
comment on column reporting.freshness.user_group_name is 'The user group''s display name; null if none.';
comment on column reporting.freshness.operation is 'What was checked, such as users or comments.';

create view reporting.coverage as
select s.organization_id, s.level, coalesce(sum(s.scopes) filter (where s.in_catalog), 0)::bigint as known,
  coalesce(sum(s.scopes) filter (where s.in_catalog and not s.is_stale and s.is_held is not true), 0)::bigint as fresh,
  coalesce(sum(s.scopes) filter (where s.in_catalog and s.is_stale and s.checked_at is not null and s.is_held is not true), 0)::bigint as stale,
  coalesce(sum(s.scopes) filter (where s.in_catalog and s.checked_at is null and s.is_held is not true), 0)::bigint as never_synced,
  coalesce(sum(s.scopes) filter (where s.in_catalog and s.is_failing), 0)::bigint as failing,
  coalesce(sum(s.scopes) filter (where s.in_catalog and s.is_held), 0)::bigint as held,
  coalesce(sum(s.scopes) filter (where not s.in_catalog), 0)::bigint as not_in_catalog,
  coalesce(sum(s.scopes) filter (where s.in_catalog and s.is_refused), 0)::bigint as refused, s.operation
from (
  select o.organization_id, case l.kind when 'group' then 'user group' else l.kind end as level, l.active and o.active as in_catalog,
    l.checked_at, l.is_stale, l.failing_since is not null as is_failing, r.is_held, r.is_refused, l.operation, 1 as scopes
  from collab_store.checked_listings l
  join collab_store.organizations o using (organization_key)
  left join collab_store.disputed_listings r using (batch_key, kind, scope_key)
  union all
  select o.organization_id, 'annotation', true, c.checked_at, c.is_stale, c.failing_since is not null, false, false, c.operation, c.scopes
  from collab_store.checks c
  join collab_store.organizations o using (organization_key)
  where c.operation = 'comments'
  union all
  select o.organization_id, 'annotation', false, null, true, false, false, false, b.operation, b.scopes
  from collab_store.batches b
  join collab_store.organizations o using (organization_key)
  where b.operation = 'comments' and b.scopes > 0 and not o.active
  union all
  select o.organization_id, 'annotation', false, null, true, false, false, false, 'comments', count(*)
  from collab_store.annotations x
  join collab_store.documents d using (document_key)
  join collab_store.organizations o using (organization_key)
  where not x.active
  group by 1
  union all
  -- Users are checked by their organization's listing, which lists the users to expect.
  select x.organization_id, 'user', x.in_catalog, x.checked_at, x.is_stale, false,
    x.removal_held_since is not null, x.removal_refused_at is not null, 'users', 1
  from collab.users x
) s
group by s.organization_id, s.level, s.operation;
comment on view reporting.coverage is 'Counts by organization, level and operation of what was checked and how recently. known = fresh + stale + held + never_synced. Key: organization_id, level, operation.';
comment on column reporting.coverage.organization_id is 'The service''s organizationId.';
comment on column reporting.coverage.level is 'What is counted: organization, user group, document, annotation or user.';
comment on column reporting.coverage.known is 'Scopes in the catalog; at level user, users in the organization''s listing.';
comment on column reporting.coverage.fresh is 'Checked successfully within FRESHNESS_PROMISE, last check did not fail, no removal held.';
comment on column reporting.coverage.stale is 'Last successful check too old, or last check failed; no removal held.';
comment on column reporting.coverage.never_synced is 'Never checked successfully; no removal held.';
comment on column reporting.coverage.failing is 'Last check failed. Also counted as stale, held or never_synced.';
comment on column reporting.coverage.held is 'A removal is pending approval. At level user: users whose removal is pending.';
comment on column reporting.coverage.not_in_catalog is 'Stored scopes that the catalog no longer lists; at level user, authors and members outside the organization''s listing.';
comment on column reporting.coverage.refused is 'An operator refused a removal. Also counted as fresh, stale, held or never_synced. At level user: users whose removal was refused.';
comment on column reporting.coverage.operation is 'What was checked, such as users or comments.';

-- The exporting role can read only views, and pg_stat_activity hides the details of other sessions from it.
create function reporting.export_times(out taken_at timestamptz, out next_since timestamptz)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select now(), least(now(),
    (select min(a.xact_start) from pg_stat_activity a where a.datname = current_database() and a.backend_type = 'client backend'),
    (select min(i.claimed_at) from sync.runs r join sync.run_items i using (run_id)
      where r.status in ('queued', 'running') and i.state = 'pending'))
$$;
comment on function reporting.export_times() is 'taken_at: time of this transaction''s snapshot. next_since: earliest time that the next export must read from, because open transactions and work items use their start time and are not in this snapshot.';
revoke all on function reporting.export_times() from public;
