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
