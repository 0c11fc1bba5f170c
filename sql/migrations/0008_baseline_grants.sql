-- Up Migration
-- Who may see which organization. Everything here rests until `collab-sync grant ROLE --organization ID` is called for the
-- first time: then sql/roles/organization_readers.sql enables the policies, and guards every column of our views.

-- A grant belongs to the role that it was given to, on the server where it was given: a role that was dropped and
-- created again has another oid. After a restore elsewhere no oid means anything, and the name counts until
-- `collab-sync migrate` or `grant` notes the oids of that server.
-- Its constraints are named as in databases of before the baseline, where the table had another name first.
create table collab_store.organization_grants_by_role (
  organization_key integer constraint organization_grants_organization_key_not_null not null
    constraint organization_grants_organization_key_fkey references collab_store.organizations,
  role_name text constraint organization_grants_role_name_not_null not null,
  granted_at timestamptz constraint organization_grants_granted_at_not_null not null default now(),
  role_oid oid,
  server_id bigint
);
create unique index on collab_store.organization_grants_by_role (organization_key, server_id, role_oid);
comment on table collab_store.organization_grants_by_role is 'Roles that see some organizations only (collab-sync grant ROLE --organization ID).';
comment on column collab_store.organization_grants_by_role.organization_key is 'The organization it may see.';
comment on column collab_store.organization_grants_by_role.role_name is 'The PostgreSQL role, by the name that it had when the grants were last written to.';
comment on column collab_store.organization_grants_by_role.granted_at is 'When it was granted.';
comment on column collab_store.organization_grants_by_role.role_oid is 'The role itself, on the server of server_id.';
comment on column collab_store.organization_grants_by_role.server_id is 'The server that role_oid is of (pg_control_system); null for grants of earlier versions.';

create view collab_store.organization_grants as
select g.organization_key, r.rolname::text as role_name, g.granted_at
from collab_store.organization_grants_by_role g
join pg_catalog.pg_roles r on r.oid = g.role_oid
where g.server_id = (select system_identifier from pg_catalog.pg_control_system())
union all
select g.organization_key, r.rolname::text as role_name, g.granted_at
from collab_store.organization_grants_by_role g
join pg_catalog.pg_roles r on r.rolname = g.role_name
where g.server_id is distinct from (select system_identifier from pg_catalog.pg_control_system());
comment on view collab_store.organization_grants is 'Which role sees which organization: grants of roles that are there, by their names of now. The policies look here.';
comment on column collab_store.organization_grants.organization_key is 'The organization it may see.';
comment on column collab_store.organization_grants.role_name is 'The PostgreSQL role, by its name of now.';
comment on column collab_store.organization_grants.granted_at is 'When it was granted.';

create function collab_store.sees_every_organization(reader name) returns boolean
language sql stable
return not coalesce(pg_has_role(reader, to_regrole('collab_organization_reader')::oid, 'usage'), false)
  or exists (select from pg_catalog.pg_roles where rolname = reader and rolsuper);
comment on function collab_store.sees_every_organization(name) is 'False for a role that was granted single organizations: the policies then look into organization_grants.';

-- Policies alone hide rows from a role that was granted single organizations, but let it test a value of another one:
-- conditions by leakproof operators (= and < on text, say) are still estimated from the statistics of all organizations,
-- read through indexes over all of them and checked before the policy, and EXPLAIN prints each. So the columns of our views
-- are guarded for such roles (docs/decisions).
create function collab_store.reads_granted_only() returns boolean
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if not coalesce(pg_has_role(current_user, to_regrole('collab_organization_reader')::oid, 'usage'), false) then
    return false;
  end if;
  return not exists (select from pg_roles where rolname = current_user and rolsuper);
end
$$;
comment on function collab_store.reads_granted_only() is 'True for a role that was granted single organizations. Declared immutable so that the planner answers it and what hangs on it leaves the plan: everybody else pays nothing. A table with a policy has the plan made again when the role changes. Who sees which row never hangs on it alone.';

-- Policies never bind the owner of the tables, which is the worker. They bind collab_views, the role that the views belong
-- to once they are in use: a condition in a policy is checked before any condition of a query, so that no function in a
-- query sees more. The questions whom one is are sub-selects, which are answered once a query and not once a row.
-- For a role of single organizations (`granted`) a policy is an organization's key alone, so that an index serves it, or
-- that the row it belongs to may be seen, looked up row by row: the planner takes a list of keys for half of the table.
do $$
declare
  everything constant text := '(select collab_store.sees_every_organization(current_user))';
  own constant text := 'any(array(select g.organization_key from collab_store.organization_grants g
    where pg_has_role(current_user, to_regrole(quote_ident(g.role_name))::oid, ''usage'')))';
  document constant text := 'exists (select from collab_store.documents d where d.document_key = %1$s.document_key)';
  user_group constant text := 'exists (select from collab_store.user_groups u where u.user_group_key = %1$s.user_group_key)';
  annotation constant text := 'exists (select from collab_store.annotations a where a.annotation_key = %1$s.annotation_key)';
  documents constant text := format('(select d.document_key from collab_store.documents d
    where d.organization_key = %s)', own);
  groups constant text := format('(select u.user_group_key from collab_store.user_groups u
    where u.organization_key = %s)', own);
  annotations constant text := format('(select a.annotation_key
    from collab_store.documents d join collab_store.annotations a using (document_key)
    where d.organization_key = %s)', own);
  ids constant text := format('(select o.organization_id from collab_store.organizations o
    where o.organization_key = %s)', own);
  policy record;
begin
  for policy in
    select table_name, condition, format(granted, table_name) as granted
    from (values
      ('collab_store.organizations', 'organization_key = ' || own, 'organization_key = ' || own),
      ('collab_store.batches', 'organization_key = ' || own, 'organization_key = ' || own),
      ('collab_store.documents', 'organization_key = ' || own, 'organization_key = ' || own),
      ('collab_store.user_groups', 'organization_key = ' || own, 'organization_key = ' || own),
      ('collab_store.users', 'organization_key = ' || own, 'organization_key = ' || own),
      ('collab_store.comments', 'organization_key = ' || own, 'organization_key = ' || own),
      ('collab_store.annotations', 'document_key in ' || documents, document),
      ('collab_store.document_users', 'document_key in ' || documents, document),
      ('collab_store.user_group_members', 'user_group_key in ' || groups, user_group),
      ('collab_store.past_memberships', format('(document_key in %s or user_group_key in %s)', documents, groups),
        document || ' or ' || user_group),
      ('collab_store.comment_versions', 'annotation_key in ' || annotations, annotation),
      ('collab_store.organization_grants_by_role', 'true', null),
      ('sync.failures', 'organization_id in ' || ids, null),
      ('sync.rejected_records', 'organization_id in ' || ids, null),
      ('sync.held', 'organization_id in ' || ids, null)
    ) as v (table_name, condition, granted)
  loop
    execute format(
      case when policy.granted is null then 'create policy granted_organizations on %1$s using (%2$s or %3$s) with check (true)'
        else 'create policy granted_organizations on %1$s
          using (case when collab_store.reads_granted_only() then %4$s else %2$s or %3$s end) with check (true)' end,
      policy.table_name, everything, policy.condition, policy.granted);
  end loop;
end
$$;
