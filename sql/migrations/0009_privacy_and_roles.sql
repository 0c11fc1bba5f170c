-- Up Migration
-- Who was erased, so that no sync brings a person back, and who may see which organization.

create table sync.erasures (
  erasure_id bigint generated always as identity primary key,
  erased_at timestamptz not null default now(),
  users bigint not null default 0,
  comments bigint not null default 0,
  comment_versions bigint not null default 0,
  memberships bigint not null default 0,
  mentions_in_records bigint not null default 0,
  rejected_records bigint not null default 0,
  messages bigint not null default 0,
  held bigint not null default 0,
  scopes bigint not null default 0,
  mentions_left bigint not null default 0,
  organization_id text,
  pseudonym text not null,
  email_hashes text[] not null default '{}',
  reason text not null,
  erased_by text not null default session_user
);
comment on table sync.erasures is 'Proof of every erasure, without the person: what was emptied, when, why and by whom. It also keeps later syncs from bringing the person back: do not delete its rows.';
comment on column sync.erasures.erasure_id is 'Counts erasures; workers notice a new one by it.';
comment on column sync.erasures.erased_at is 'When the transaction began that emptied everything.';
comment on column sync.erasures.users is 'Rows of collab.users that were emptied: one an organization.';
comment on column sync.erasures.comments is 'Comments by the person, deleted ones too, whose text, HTML, author and further members were emptied.';
comment on column sync.erasures.comment_versions is 'Earlier versions of these comments whose text and HTML were emptied.';
comment on column sync.erasures.memberships is 'Rows of documents'' and groups'' listings, past stays too, that now carry the pseudonym.';
comment on column sync.erasures.mentions_in_records is 'Records of others in whose further members the person''s user id stood and was replaced.';
comment on column sync.erasures.rejected_records is 'Rows of sync.rejected_records whose record was emptied.';
comment on column sync.erasures.messages is 'Messages of failures, runs and observed errors that named the person and were emptied.';
comment on column sync.erasures.held is 'Rows of sync.held in whose list of users the pseudonym now stands.';
comment on column sync.erasures.scopes is 'Scopes of runs in which the pseudonym now stands for the user id.';
comment on column sync.erasures.mentions_left is 'Comments of others whose text holds the person''s name, e-mail address or user id: these are other people''s words and were left.';
comment on column sync.erasures.organization_id is 'The organization the erasure was narrowed to; null for all, also those that come later.';
comment on column sync.erasures.pseudonym is 'What now stands for the user id: a salted hash of it.';
comment on column sync.erasures.email_hashes is 'Salted hashes of the e-mail addresses that were known of the person: they tell comments that came without a user id.';
comment on column sync.erasures.reason is 'Why, in the operator''s words.';
comment on column sync.erasures.erased_by is 'The PostgreSQL role that did it.';

create table sync.privacy (
  only_row boolean primary key default true check (only_row),
  salt bytea not null
);
insert into sync.privacy (salt)
values (decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));
comment on table sync.privacy is 'The secret of this database that pseudonyms and hashed e-mail addresses are made with.';
comment on column sync.privacy.only_row is 'There is just one row.';
comment on column sync.privacy.salt is 'Whoever knows it can test guesses against the hashes: readers of collab and reporting cannot see it. Replacing it brings erased people back.';

create table collab_store.organization_grants (
  organization_key integer not null references collab_store.organizations,
  role_name text not null,
  granted_at timestamptz not null default now(),
  primary key (role_name, organization_key)
);
comment on table collab_store.organization_grants is 'Roles that see some organizations only (collab-sync grant ROLE --organization ID).';
comment on column collab_store.organization_grants.organization_key is 'The organization it may see.';
comment on column collab_store.organization_grants.role_name is 'The PostgreSQL role. By name, not by oid: an oid means another role after a restore elsewhere.';
comment on column collab_store.organization_grants.granted_at is 'When it was granted.';

create function collab_store.sees_every_organization(reader name) returns boolean
language sql stable
return not coalesce(pg_has_role(reader, to_regrole('collab_organization_reader')::oid, 'usage'), false)
  or exists (select from pg_catalog.pg_roles where rolname = reader and rolsuper);
comment on function collab_store.sees_every_organization(name) is 'False for a role that was granted single organizations: the policies then look into organization_grants.';

-- Policies do nothing until `collab-sync grant ROLE --organization ID` enables them for the first time, and they never
-- bind the owner of the tables, which is the worker. They bind collab_views, the role that the views belong to from then
-- on: a condition in a policy is checked before any condition of a query, so that no function in a query sees more.
-- The questions whom one is are sub-selects, which are answered once a query and not once a row.
do $$
declare
  everything constant text := '(select collab_store.sees_every_organization(current_user))';
  own constant text := 'array(select g.organization_key from collab_store.organization_grants g
    where pg_has_role(current_user, to_regrole(quote_ident(g.role_name))::oid, ''usage''))';
  documents constant text := format('(select d.document_key from collab_store.documents d
    where d.organization_key = any(%s))', own);
  groups constant text := format('(select u.user_group_key from collab_store.user_groups u
    where u.organization_key = any(%s))', own);
  annotations constant text := format('(select a.annotation_key
    from collab_store.documents d join collab_store.annotations a using (document_key)
    where d.organization_key = any(%s))', own);
  ids constant text := format('(select o.organization_id from collab_store.organizations o
    where o.organization_key = any(%s))', own);
  policy record;
begin
  for policy in
    select * from (values
      ('collab_store.organizations', 'organization_key = any(' || own || ')'),
      ('collab_store.batches', 'organization_key = any(' || own || ')'),
      ('collab_store.documents', 'organization_key = any(' || own || ')'),
      ('collab_store.user_groups', 'organization_key = any(' || own || ')'),
      ('collab_store.users', 'organization_key = any(' || own || ')'),
      ('collab_store.organization_grants', 'true'),
      ('collab_store.annotations', 'document_key in ' || documents),
      ('collab_store.document_users', 'document_key in ' || documents),
      ('collab_store.user_group_members', 'user_group_key in ' || groups),
      ('collab_store.past_memberships', format('(document_key in %s or user_group_key in %s)', documents, groups)),
      ('collab_store.comments', 'organization_key = any(' || own || ')'),
      ('collab_store.comment_versions', 'annotation_key in ' || annotations),
      ('sync.failures', 'organization_id in ' || ids),
      ('sync.rejected_records', 'organization_id in ' || ids),
      ('sync.held', 'organization_id in ' || ids)
    ) as v (table_name, condition)
  loop
    execute format('create policy granted_organizations on %s using (%s or %s) with check (true)',
      policy.table_name, everything, policy.condition);
  end loop;
end
$$;

-- No index on words can serve a query below a policy: the operator might tell what it compares. So the search goes round
-- the policies, with the rights of the owner, and asks itself who calls: a plan of its own for every search, because how
-- to search one organization is another matter than how to search all.
create or replace function reporting.search_comments(query text, organization_id text default null, max_results integer default 100)
returns setof reporting.found_comment
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
declare
  -- In a function with its owner's rights current_user is the owner.
  caller constant name := coalesce(nullif(current_setting('role', true), 'none'), session_user);
  sees_every constant boolean := collab_store.sees_every_organization(caller);
  granted constant integer[] := array(select g.organization_key from collab_store.organization_grants g
    where pg_has_role(caller, to_regrole(quote_ident(g.role_name))::oid, 'usage'));
begin
  if not has_table_privilege(caller, 'reporting.comments', 'select') then
    raise insufficient_privilege using message = 'permission denied for view reporting.comments';
  end if;
  return query
  select ts_rank(reporting.comment_words(f.comment_text), reporting.search_query($1), 1) as rank, f.organization_id, f.document_id,
    f.annotation_id, f.comment_id, f.author_user_id, f.author_name, f.comment_text, f.last_updated
  from (
    select o.organization_id, d.document_id, a.annotation_id, c.comment_id, c.author_user_id,
      coalesce(u.name, c.author_name) as author_name, c.comment_text, c.last_updated
    from collab_store.comments c
    join collab_store.annotations a using (annotation_key)
    join collab_store.documents d using (document_key)
    join collab_store.organizations o on o.organization_key = d.organization_key
    left join collab_store.users u on u.organization_key = d.organization_key and u.user_id = c.author_user_id
    where c.deleted_at is null and reporting.comment_words(c.comment_text) @@ reporting.search_query($1)
      and ($2 is null or o.organization_id = $2) and (sees_every or d.organization_key = any(granted))
    limit 2000 -- ranking reads every text again: of a word that common any two thousand are ranked
  ) f
  order by 1 desc, f.last_updated desc nulls last, f.organization_id, f.document_id, f.annotation_id, f.comment_id
  limit $3;
end
$$;
