-- Up Migration
-- A clock and a mark for each row that lacked them: when what it stands on was last checked well, whether that may be out of
-- date, and whether it is still checked. Rows have them from their scope, totals from the scopes of their organization.
-- Joined from outside, so that the batches leave the plan where nobody asks for them.

create or replace view collab.users as
select o.organization_id, u.user_id, u.name, u.email,
  jsonb_strip_nulls(jsonb_build_object('userId', u.user_id, 'name', u.name, 'email', u.email))
    || coalesce(u.rest, '{}') as raw,
  u.listed, u.first_seen_at, u.changed_at, u.removed_at, u.person,
  collab_store.last_good_check(o.own_checked_at, b.checked_at) as checked_at,
  collab_store.is_stale(collab_store.last_good_check(o.own_checked_at, b.checked_at), o.failing_since,
    (select stale_before from collab_store.promise)) as is_stale,
  u.listed and o.active as in_catalog
from collab_store.users u
join collab_store.organizations o using (organization_key)
left join collab_store.batches b
  on b.organization_key = o.organization_key and b.operation = 'users' and b.batch_no = 0;
comment on column collab.users.checked_at is 'When the last good reading of the organization''s own listing began (our clock); null if there was none.';
comment on column collab.users.is_stale is 'True where the organization''s own listing may be out of date: the last try failed, or the last good one is longer ago than FRESHNESS_PROMISE allows.';
comment on column collab.users.in_catalog is 'True while the catalog lists the organization and its own listing the person: only then is the row checked.';

create or replace view collab.user_versions as
select o.organization_id, v.user_id, v.version, v.name, v.email, v.listed, v.removed_at, v.change, v.valid_from, v.valid_to,
  collab_store.last_good_check(o.own_checked_at, b.checked_at) as checked_at,
  collab_store.is_stale(collab_store.last_good_check(o.own_checked_at, b.checked_at), o.failing_since,
    (select stale_before from collab_store.promise)) as is_stale,
  u.listed and o.active as in_catalog
from (
  select organization_key, user_id, version, name, email, listed, removed_at, change, valid_from, valid_to
  from collab_store.user_versions
  union all
  select organization_key, user_id, coalesce(version, 1), name, email, listed, removed_at,
    case when version is null then 'added' else change end, coalesce(version_at, first_seen_at), null
  from collab_store.users
) v
join collab_store.organizations o using (organization_key)
left join collab_store.users u on u.organization_key = v.organization_key and u.user_id = v.user_id
left join collab_store.batches b
  on b.organization_key = o.organization_key and b.operation = 'users' and b.batch_no = 0;
comment on column collab.user_versions.checked_at is 'As in collab.users.';
comment on column collab.user_versions.is_stale is 'As in collab.users: there may be a newer version that no check has seen.';
comment on column collab.user_versions.in_catalog is 'As in collab.users.';

create or replace view collab.document_users as
select o.organization_id, d.document_id, m.user_id, m.first_seen_at, m.removed_at,
  collab_store.last_good_check(d.own_checked_at, b.checked_at) as checked_at,
  collab_store.is_stale(collab_store.last_good_check(d.own_checked_at, b.checked_at), d.failing_since,
    (select stale_before from collab_store.promise)) as is_stale,
  d.active and o.active as in_catalog
from collab_store.document_users m
join collab_store.documents d using (document_key)
join collab_store.organizations o using (organization_key)
left join collab_store.batches b on b.batch_key = d.batch_key;
comment on column collab.document_users.checked_at is 'When the last good reading of the document''s listing of users began (our clock); null if there was none.';
comment on column collab.document_users.is_stale is 'True where that listing may be out of date: the last try failed, or the last good one is longer ago than FRESHNESS_PROMISE allows.';
comment on column collab.document_users.in_catalog is 'True while the catalog lists the document: only then is it checked.';

create or replace view collab.user_group_members as
select o.organization_id, g.organization_user_group_id, m.user_id, m.first_seen_at, m.removed_at,
  collab_store.last_good_check(g.own_checked_at, b.checked_at) as checked_at,
  collab_store.is_stale(collab_store.last_good_check(g.own_checked_at, b.checked_at), g.failing_since,
    (select stale_before from collab_store.promise)) as is_stale,
  g.active and o.active as in_catalog
from collab_store.user_group_members m
join collab_store.user_groups g using (user_group_key)
join collab_store.organizations o using (organization_key)
left join collab_store.batches b on b.batch_key = g.batch_key;
comment on column collab.user_group_members.checked_at is 'When the last good reading of the group''s listing of users began (our clock); null if there was none.';
comment on column collab.user_group_members.is_stale is 'True where that listing may be out of date: the last try failed, or the last good one is longer ago than FRESHNESS_PROMISE allows.';
comment on column collab.user_group_members.in_catalog is 'True while the catalog lists the group: only then is it checked.';

create or replace view collab.comment_versions as
select o.organization_id, d.document_id, a.annotation_id, v.comment_id, v.version,
  v.comment_text, v.comment_html, v.status, v.type, v.last_updated, v.change, v.valid_from, v.valid_to,
  collab_store.last_good_check(a.own_checked_at, b.checked_at) as checked_at,
  collab_store.is_stale(collab_store.last_good_check(a.own_checked_at, b.checked_at), a.failing_since,
    (select stale_before from collab_store.promise)) as is_stale,
  a.active and d.active and o.active as in_catalog
from (
  select annotation_key, comment_id, version, comment_text, comment_html, status, type, last_updated,
    change, valid_from, valid_to
  from collab_store.comment_versions
  union all
  select annotation_key, comment_id, version, comment_text, comment_html, status, type, last_updated,
    change, version_at, null
  from collab_store.comments
) v
join collab_store.annotations a using (annotation_key)
join collab_store.documents d using (document_key)
join collab_store.organizations o using (organization_key)
left join collab_store.batches b on b.batch_key = a.batch_key;
comment on column collab.comment_versions.checked_at is 'When the last good reading of the comments of its annotation began (our clock); null if there was none.';
comment on column collab.comment_versions.is_stale is 'True where the comments of its annotation may be out of date: there may be a newer version that no check has seen.';
comment on column collab.comment_versions.in_catalog is 'True while the catalog lists its annotation: only then is it checked.';

create or replace view reporting.comment_history as
select o.organization_id, d.document_id, a.annotation_id, v.comment_id, v.version, v.change,
  c.author_user_id, coalesce(u.name, c.author_name) as author_name, v.comment_text, v.status, v.type, v.last_updated,
  v.valid_from, v.valid_to,
  collab_store.last_good_check(a.own_checked_at, b.checked_at) as checked_at,
  collab_store.is_stale(collab_store.last_good_check(a.own_checked_at, b.checked_at), a.failing_since,
    (select stale_before from collab_store.promise)) as is_stale,
  a.active and d.active and o.active as in_catalog
from collab_store.comment_versions v
join collab_store.comments c on c.annotation_key = v.annotation_key and c.comment_id = v.comment_id
  and (c.version <> 1 or not collab_store.reads_granted_only())
left join collab_store.annotations a on a.annotation_key = c.annotation_key
left join collab_store.documents d on d.document_key = a.document_key and d.organization_key = c.organization_key
left join collab_store.organizations o on o.organization_key = c.organization_key
left join collab_store.users u on u.organization_key = c.organization_key and u.user_id = c.author_user_id
left join collab_store.batches b on b.batch_key = a.batch_key
union all
select o.organization_id, d.document_id, a.annotation_id, c.comment_id, c.version, c.change,
  c.author_user_id, coalesce(u.name, c.author_name), c.comment_text, c.status, c.type, c.last_updated,
  c.version_at, null,
  collab_store.last_good_check(a.own_checked_at, b.checked_at),
  collab_store.is_stale(collab_store.last_good_check(a.own_checked_at, b.checked_at), a.failing_since,
    (select stale_before from collab_store.promise)),
  a.active and d.active and o.active
from collab_store.comments c
left join collab_store.annotations a on a.annotation_key = c.annotation_key
left join collab_store.documents d on d.document_key = a.document_key and d.organization_key = c.organization_key
left join collab_store.organizations o on o.organization_key = c.organization_key
left join collab_store.users u on u.organization_key = c.organization_key and u.user_id = c.author_user_id
left join collab_store.batches b on b.batch_key = a.batch_key
where c.version = 1 or collab_store.reads_granted_only()
union all
select o.organization_id, d.document_id, a.annotation_id, c.comment_id, c.version, c.change,
  c.author_user_id, coalesce(u.name, c.author_name), c.comment_text, c.status, c.type, c.last_updated,
  c.version_at, null,
  collab_store.last_good_check(a.own_checked_at, b.checked_at),
  collab_store.is_stale(collab_store.last_good_check(a.own_checked_at, b.checked_at), a.failing_since,
    (select stale_before from collab_store.promise)),
  a.active and d.active and o.active
from collab_store.comments c
left join collab_store.annotations a on a.annotation_key = c.annotation_key
left join collab_store.documents d on d.document_key = a.document_key and d.organization_key = c.organization_key
left join collab_store.organizations o on o.organization_key = c.organization_key
left join collab_store.users u on u.organization_key = c.organization_key and u.user_id = c.author_user_id
left join collab_store.batches b on b.batch_key = a.batch_key
where c.version > 1 and not collab_store.reads_granted_only();
comment on column reporting.comment_history.checked_at is 'When the last good reading of the comments of its annotation began (our clock); null if there was none.';
comment on column reporting.comment_history.is_stale is 'True where the comments of its annotation may be out of date: there may be a newer version that no check has seen.';
comment on column reporting.comment_history.in_catalog is 'True while the catalog lists its annotation: only then is it checked.';

create or replace view reporting.edits_and_deletions as
select o.organization_id, d.document_id, a.annotation_id, v.comment_id, v.version, v.change, v.valid_from as noticed_at,
  e.valid_from as not_before, c.author_user_id, coalesce(u.name, c.author_name) as author_name, e.status as status_before, v.status,
  e.comment_text as text_before, v.comment_text, e.last_updated as last_updated_before, v.last_updated,
  round(extract(epoch from v.last_updated - e.last_updated) / 3600, 2) as hours_since_previous,
  collab_store.last_good_check(a.own_checked_at, b.checked_at) as checked_at,
  collab_store.is_stale(collab_store.last_good_check(a.own_checked_at, b.checked_at), a.failing_since,
    (select stale_before from collab_store.promise)) as is_stale,
  a.active and d.active and o.active as in_catalog
from collab_store.comment_versions v
join collab_store.comments c on c.annotation_key = v.annotation_key and c.comment_id = v.comment_id
left join collab_store.comment_versions e
  on e.annotation_key = v.annotation_key and e.comment_id = v.comment_id and e.version = v.version - 1
left join collab_store.annotations a on a.annotation_key = v.annotation_key
left join collab_store.documents d on d.document_key = a.document_key and d.organization_key = c.organization_key
left join collab_store.organizations o on o.organization_key = c.organization_key
left join collab_store.users u on u.organization_key = c.organization_key and u.user_id = c.author_user_id
left join collab_store.batches b on b.batch_key = a.batch_key
where v.version > 1
union all
select o.organization_id, d.document_id, a.annotation_id, c.comment_id, c.version, c.change, c.version_at,
  e.valid_from, c.author_user_id, coalesce(u.name, c.author_name), e.status, c.status,
  e.comment_text, c.comment_text, e.last_updated, c.last_updated,
  round(extract(epoch from c.last_updated - e.last_updated) / 3600, 2),
  collab_store.last_good_check(a.own_checked_at, b.checked_at),
  collab_store.is_stale(collab_store.last_good_check(a.own_checked_at, b.checked_at), a.failing_since,
    (select stale_before from collab_store.promise)),
  a.active and d.active and o.active
from collab_store.comments c
left join collab_store.comment_versions e
  on e.annotation_key = c.annotation_key and e.comment_id = c.comment_id and e.version = c.version - 1
left join collab_store.annotations a on a.annotation_key = c.annotation_key
left join collab_store.documents d on d.document_key = a.document_key and d.organization_key = c.organization_key
left join collab_store.organizations o on o.organization_key = c.organization_key
left join collab_store.users u on u.organization_key = c.organization_key and u.user_id = c.author_user_id
left join collab_store.batches b on b.batch_key = a.batch_key
where c.version > 1;
comment on column reporting.edits_and_deletions.checked_at is 'When the last good reading of the comments of its annotation began (our clock); null if there was none.';
comment on column reporting.edits_and_deletions.is_stale is 'True where the comments of its annotation may be out of date: there may be changes that no check has seen.';
comment on column reporting.edits_and_deletions.in_catalog is 'True while the catalog lists its annotation: only then is it checked.';

create or replace view reporting.status_transitions as
select t.organization_id, t.from_status, t.to_status, t.transitions, t.median_hours,
  s.annotations_checked_at as checked_at, coalesce(s.stale_annotations, 0) > 0 as is_stale, o.active as in_catalog,
  coalesce(s.stale_annotations, 0) as stale_annotations, t.transitions_not_in_catalog
from (
  select organization_id, status_before as from_status, status as to_status, count(*) as transitions,
    round((percentile_cont(0.5) within group (order by extract(epoch from last_updated - last_updated_before)) / 3600)::numeric, 2)
      as median_hours,
    count(*) filter (where not in_catalog) as transitions_not_in_catalog
  from reporting.edits_and_deletions
  where change <> 'deleted' and status is distinct from status_before and not_before is not null
  group by 1, 2, 3
) t
left join collab_store.organizations o using (organization_id)
left join collab_store.organization_checks s on s.organization_key = o.organization_key;
comment on column reporting.status_transitions.checked_at is 'When the oldest of the last good checks of the organization''s annotations in the catalog began (our clock); null where one was never checked.';
comment on column reporting.status_transitions.is_stale is 'True where stale_annotations is not 0: there may be changes that no check has seen.';
comment on column reporting.status_transitions.in_catalog is 'True while the catalog lists the organization: only then is it checked.';
comment on column reporting.status_transitions.stale_annotations is 'How many of the organization''s annotations in the catalog may be out of date, as reporting.freshness tells it.';
comment on column reporting.status_transitions.transitions_not_in_catalog is 'How many of the transitions are in annotations that left the catalog, and are no longer checked.';

create or replace view reporting.observed_values as
select v.organization_id, v.field, v.value, v.comments, v.versions, v.first_seen_at, v.last_new_at,
  s.annotations_checked_at as checked_at, coalesce(s.stale_annotations, 0) > 0 as is_stale, o.active as in_catalog,
  coalesce(s.stale_annotations, 0) as stale_annotations, v.comments_not_in_catalog
from (
  select s.organization_id, f.field, v.value, sum(s.comments)::bigint as comments, sum(s.versions)::bigint as versions,
    min(s.first_seen_at) as first_seen_at, max(s.last_new_at) as last_new_at,
    sum(s.comments_not_in_catalog)::bigint as comments_not_in_catalog
  from (
    select o.organization_id, c.status, c.type, count(*) filter (where c.deleted_at is null) as comments, count(*) as versions,
      min(c.version_at) as first_seen_at, max(c.version_at) as last_new_at, 0 as comments_not_in_catalog
    from collab_store.comments c
    join collab_store.organizations o using (organization_key)
    group by o.organization_key, 2, 3
    union all
    select o.organization_id, p.status, p.type, 0, count(*), min(p.valid_from), max(p.valid_from), 0
    from collab_store.comment_versions p
    join collab_store.annotations a using (annotation_key)
    join collab_store.documents d using (document_key)
    join collab_store.organizations o using (organization_key)
    group by o.organization_key, 2, 3
    union all
    select o.organization_id, c.status, c.type, 0, 0, null, null, count(*)
    from collab_store.annotations a
    join collab_store.documents d using (document_key)
    join collab_store.organizations o using (organization_key)
    join collab_store.comments c using (annotation_key)
    where not a.active and c.deleted_at is null
    group by o.organization_key, 2, 3
  ) s
  cross join (values ('status'), ('type')) f (field)
  cross join lateral (select case f.field when 'status' then s.status else s.type end as value) v
  group by 1, 2, 3
) v
left join collab_store.organizations o using (organization_id)
left join collab_store.organization_checks s on s.organization_key = o.organization_key;
comment on column reporting.observed_values.checked_at is 'When the oldest of the last good checks of the organization''s annotations in the catalog began (our clock); null where one was never checked.';
comment on column reporting.observed_values.is_stale is 'True where stale_annotations is not 0: there may be a value that no check has seen.';
comment on column reporting.observed_values.in_catalog is 'True while the catalog lists the organization: only then is it checked.';
comment on column reporting.observed_values.stale_annotations is 'How many of the organization''s annotations in the catalog may be out of date, as reporting.freshness tells it.';
comment on column reporting.observed_values.comments_not_in_catalog is 'How many of the comments are in annotations that left the catalog, and are no longer checked.';

create or replace view reporting.memberships as
select m.organization_id, m.kind, m.document_id, m.organization_user_group_id, m.user_id, u.name, u.email, m.since, m.until,
  collab_store.last_good_check(m.own_checked_at, b.checked_at) as checked_at,
  collab_store.is_stale(collab_store.last_good_check(m.own_checked_at, b.checked_at), m.failing_since,
    (select stale_before from collab_store.promise)) as is_stale,
  m.in_catalog
from (
  select o.organization_key, o.organization_id, 'document' as kind, d.document_id, null::text as organization_user_group_id,
    s.user_id, s.joined_at as since, s.removed_at as until, d.batch_key, d.own_checked_at, d.failing_since,
    d.active and o.active as in_catalog
  from collab_store.document_users s
  join collab_store.documents d using (document_key)
  join collab_store.organizations o using (organization_key)
  union all
  select o.organization_key, o.organization_id, 'user group', null, g.organization_user_group_id,
    s.user_id, s.joined_at, s.removed_at, g.batch_key, g.own_checked_at, g.failing_since, g.active and o.active
  from collab_store.user_group_members s
  join collab_store.user_groups g using (user_group_key)
  join collab_store.organizations o using (organization_key)
  union all
  select o.organization_key, o.organization_id, 'document', d.document_id, null, s.user_id, s.joined_at, s.removed_at,
    d.batch_key, d.own_checked_at, d.failing_since, d.active and o.active
  from collab_store.past_memberships s
  join collab_store.documents d using (document_key)
  join collab_store.organizations o using (organization_key)
  union all
  select o.organization_key, o.organization_id, 'user group', null, g.organization_user_group_id, s.user_id, s.joined_at, s.removed_at,
    g.batch_key, g.own_checked_at, g.failing_since, g.active and o.active
  from collab_store.past_memberships s
  join collab_store.user_groups g using (user_group_key)
  join collab_store.organizations o using (organization_key)
) m
left join collab_store.users u on u.organization_key = m.organization_key and u.user_id = m.user_id
left join collab_store.batches b on b.batch_key = m.batch_key;
comment on column reporting.memberships.checked_at is 'When the last good reading of the listing of the document or user group began (our clock); null if there was none.';
comment on column reporting.memberships.is_stale is 'True where that listing may be out of date: the last try failed, or the last good one is longer ago than FRESHNESS_PROMISE allows.';
comment on column reporting.memberships.in_catalog is 'True while the catalog lists the document or user group: only then is it checked.';

create or replace view reporting.user_directory as
select o.organization_id, p.user_id, p.name, p.email, p.listed, p.documents, p.user_groups, p.document_ids,
  p.organization_user_group_ids, p.first_seen_at, p.left_at,
  collab_store.last_good_check(o.own_checked_at, b.checked_at) as checked_at,
  collab_store.is_stale(collab_store.last_good_check(o.own_checked_at, b.checked_at), o.failing_since,
    (select stale_before from collab_store.promise)) as is_stale,
  p.listed and o.active as in_catalog, coalesce(s.stale_listings, 0) as stale_listings,
  p.documents_not_in_catalog, p.user_groups_not_in_catalog
from collab_store.organizations o
left join collab_store.batches b
  on b.organization_key = o.organization_key and b.operation = 'users' and b.batch_no = 0
left join collab_store.organization_checks s on s.organization_key = o.organization_key
cross join lateral (
  select u.user_id, u.name, u.email, u.listed, coalesce(d.documents, 0) as documents, coalesce(g.user_groups, 0) as user_groups,
    coalesce(d.document_ids, '{}') as document_ids,
    coalesce(g.organization_user_group_ids, '{}') as organization_user_group_ids, u.first_seen_at, u.removed_at as left_at,
    coalesce(d.not_in_catalog, 0) as documents_not_in_catalog, coalesce(g.not_in_catalog, 0) as user_groups_not_in_catalog
  from collab_store.users u
  left join (
    select s.user_id, count(*) as documents, array_agg(x.document_id order by x.document_id collate "C") as document_ids,
      count(*) filter (where not (x.active and o.active)) as not_in_catalog
    from collab_store.documents x join collab_store.document_users s using (document_key)
    where x.organization_key = o.organization_key and s.removed_at is null
    group by s.user_id
  ) d using (user_id)
  left join (
    select s.user_id, count(*) as user_groups,
      array_agg(x.organization_user_group_id order by x.organization_user_group_id collate "C") as organization_user_group_ids,
      count(*) filter (where not (x.active and o.active)) as not_in_catalog
    from collab_store.user_groups x join collab_store.user_group_members s using (user_group_key)
    where x.organization_key = o.organization_key and s.removed_at is null
    group by s.user_id
  ) g using (user_id)
  where u.organization_key = o.organization_key
  offset 0 -- one organization after the other: its memberships are gathered once, not once a person
) p;
comment on column reporting.user_directory.documents is 'Documents that the person is in, as of their last checks, those that left the catalog too.';
comment on column reporting.user_directory.user_groups is 'Organization user groups that the person is in, as of their last checks, those that left the catalog too.';
comment on column reporting.user_directory.checked_at is 'As in collab.users: the check of the organization''s own listing. Documents and user groups have checks of their own.';
comment on column reporting.user_directory.is_stale is 'As in collab.users: name, email, listed and left_at may be out of date. For documents and user_groups see stale_listings.';
comment on column reporting.user_directory.in_catalog is 'As in collab.users.';
comment on column reporting.user_directory.stale_listings is 'How many of the organization''s listings in the catalog (its own, of its documents, of its user groups) may be out of date: each may lack the person, or hold somebody who left.';
comment on column reporting.user_directory.documents_not_in_catalog is 'How many of the documents left the catalog, and are no longer checked.';
comment on column reporting.user_directory.user_groups_not_in_catalog is 'How many of the user groups left the catalog, and are no longer checked.';

-- What is in the catalog is, of these four, decided elsewhere too, and a line for each of them is not written then.
do $$
declare
  old_text constant text := $t$case l.object when 'comment' then$t$;
  old_function constant text := pg_get_functiondef('reporting.changes'::regproc);
begin
  if position(old_text in old_function) = 0 then
    raise exception 'reporting.changes() is not the one of 0017';
  end if;
  execute replace(old_function, old_text, $t$case when l.object in ('comment', 'user', 'document_user', 'user_group_member') then$t$);
end
$$;
