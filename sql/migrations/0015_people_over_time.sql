-- Up Migration
-- Versions of people: how somebody was called, under which address, and whether the organization listed them, at any time.
-- As with comments, the current version is in the row itself and only superseded ones have rows of their own, so that who
-- never changed costs nothing: the new columns of users are null for them.

alter table collab_store.users
  add column version integer,
  add column version_at timestamptz,
  add column change text check (change in ('edited', 'listed', 'removed', 'restored'));
comment on column collab_store.users.version is 'Number of the current version, from 1; null for 1. Earlier ones are in user_versions.';
comment on column collab_store.users.version_at is 'When a check first saw the current name, e-mail and listing (our clock); null where that was first_seen_at.';
comment on column collab_store.users.change is 'What made the current version; null for the first one, and where it is not known.';

-- What changed before today was not kept. So the row of who changed speaks for the time since the last change only; what
-- that was is known where it was the departure.
update collab_store.users
set version = 2, version_at = greatest(changed_at, first_seen_at), change = case when removed_at = changed_at then 'removed' end
where changed_at <> first_seen_at;

create table collab_store.user_versions (
  organization_key integer not null references collab_store.organizations,
  version integer not null,
  valid_from timestamptz not null,
  valid_to timestamptz not null,
  removed_at timestamptz,
  listed boolean not null,
  change text check (change in ('added', 'edited', 'listed', 'removed', 'restored')),
  user_id text not null,
  name text,
  email text,
  primary key (organization_key, user_id, version)
);
comment on table collab_store.user_versions is 'Superseded versions of people only: who never changed has no row here, their one version is in users.';
comment on column collab_store.user_versions.organization_key is 'The organization in which the person was seen.';
comment on column collab_store.user_versions.version is 'Counts from 1.';
comment on column collab_store.user_versions.valid_from is 'When a check first saw this version (our clock).';
comment on column collab_store.user_versions.valid_to is 'When a check first saw the next one (our clock).';
comment on column collab_store.user_versions.removed_at is 'removed_at of users in this version.';
comment on column collab_store.user_versions.listed is 'Whether the organization''s own listing held the person.';
comment on column collab_store.user_versions.change is 'What made this version; null where that is not known.';
comment on column collab_store.user_versions.user_id is 'The service''s userId.';
comment on column collab_store.user_versions.name is 'Name in this version.';
comment on column collab_store.user_versions.email is 'E-mail in this version; null also where PRIVACY_EMAIL does not keep it.';

-- As for users (0008).
create policy granted_organizations on collab_store.user_versions
using (case when collab_store.reads_granted_only()
  then organization_key = any(array(select g.organization_key from collab_store.organization_grants g
    where pg_has_role(current_user, to_regrole(quote_ident(g.role_name))::oid, 'usage')))
  else (select collab_store.sees_every_organization(current_user))
    or organization_key = any(array(select g.organization_key from collab_store.organization_grants g
      where pg_has_role(current_user, to_regrole(quote_ident(g.role_name))::oid, 'usage'))) end)
with check (true);

alter table sync.erasures add column user_versions bigint not null default 0;
comment on column sync.erasures.user_versions is 'Earlier versions of users that were emptied, or in which an id or address was replaced.';

create view collab.user_versions as
select o.organization_id, v.user_id, v.version, v.name, v.email, v.listed, v.removed_at, v.change, v.valid_from, v.valid_to
from (
  select organization_key, user_id, version, name, email, listed, removed_at, change, valid_from, valid_to
  from collab_store.user_versions
  union all
  select organization_key, user_id, coalesce(version, 1), name, email, listed, removed_at,
    case when version is null then 'added' else change end, coalesce(version_at, first_seen_at), null
  from collab_store.users
) v
join collab_store.organizations o using (organization_key);
comment on view collab.user_versions is 'Every version of every person that is kept, the current one too (valid_to is null): name, e-mail, listing. What was before the first of them is not known. Key: organization_id, user_id, version.';
comment on column collab.user_versions.organization_id is 'organizationId of the service: the organization that was asked for.';
comment on column collab.user_versions.user_id is 'userId of the service.';
comment on column collab.user_versions.version is 'Counts from 1 within the person; the first ones are missing where they were pruned, and where changes were not kept yet.';
comment on column collab.user_versions.name is 'Name in this version; null where the service left it out.';
comment on column collab.user_versions.email is 'E-mail address in this version; null where the service left it out, and where PRIVACY_EMAIL no longer keeps it.';
comment on column collab.user_versions.listed is 'Whether the organization''s own listing held the person.';
comment on column collab.user_versions.removed_at is 'Since when the organization''s listing lacked one who had been in it; null while listed, and for those not listed until then.';
comment on column collab.user_versions.change is 'What made this version: added, edited (another name or address), listed (first time in the organization''s listing), removed (from it), restored (to it). Null where that is not known.';
comment on column collab.user_versions.valid_from is 'When a check first saw this version (our clock); it came to be between that check and the one before.';
comment on column collab.user_versions.valid_to is 'When a check first saw the next version; null for the current one.';

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
  -- Who had been somewhere by then, of which no stay is kept that began by then: those stays were pruned.
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
comment on function reporting.user_directory_at(timestamptz) is 'reporting.user_directory as it was known at that time (our clock): who was there, called what, listed or not, in which documents and user groups. Where is_known_then is false, something of that time is no longer kept (pruned, or of before changes of people were kept): name, email, listed and left_at, or documents, user_groups and their ids, are then null.';
comment on function reporting.memberships_at(timestamptz) is 'Who was in which document and user group as it was known at that time (our clock), without stays that were pruned. People have their current names; reporting.user_directory_at() has those of then.';

create or replace view reporting.comments as
select o.organization_id, d.document_id, a.annotation_id, c.comment_id,
  c.author_user_id,
  coalesce(u.name, c.author_name) as author_name,
  coalesce(u.email, c.author_email) as author_email,
  c.comment_text, c.status, c.type, c.last_updated, c.first_seen_at, c.changed_at,
  collab_store.last_good_check(a.own_checked_at, b.checked_at) as checked_at,
  collab_store.is_stale(collab_store.last_good_check(a.own_checked_at, b.checked_at), a.failing_since,
    (select stale_before from collab_store.promise)) as is_stale,
  a.active and d.active and o.active as in_catalog,
  c.author_name as author_name_then, c.author_email as author_email_then
from collab_store.comments c
left join collab_store.annotations a using (annotation_key)
left join collab_store.documents d on d.document_key = a.document_key and d.organization_key = c.organization_key
left join collab_store.organizations o on o.organization_key = c.organization_key
left join collab_store.users u on u.organization_key = c.organization_key and u.user_id = c.author_user_id
left join collab_store.batches b on b.batch_key = a.batch_key
where c.deleted_at is null;
comment on column reporting.comments.author_name_then is 'The author''s name as last received with the comment itself: the one of then where the service keeps it so. Where it sends current names with old comments, collab.user_versions has the name at first_seen_at.';
comment on column reporting.comments.author_email_then is 'The author''s e-mail address as last received with the comment itself.';

-- Who exports may read views and nothing beneath them, and sees of other sessions nothing but that they are there.
create function reporting.export_times(out taken_at timestamptz, out next_since timestamptz)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select now(), least(now(),
    (select min(a.xact_start) from pg_stat_activity a where a.datname = current_database() and a.backend_type = 'client backend'),
    (select min(i.claimed_at) from sync.runs r join sync.run_items i using (run_id)
      where r.status in ('queued', 'running') and i.state = 'pending'))
$$;
comment on function reporting.export_times() is 'Of when the picture of the current transaction is (taken_at), and from when on the next export has to look so that it misses nothing (next_since): what is written by a transaction or an item that is under way carries the time of its begin, and is not in this picture. collab-sync export asks it.';
