-- Up Migration
-- Tokens of `serve` that can be withdrawn one by one, and grants that belong to a role rather than to its name.

create table sync.access_tokens (
  token_id bigint generated always as identity primary key,
  created_at timestamptz not null default now(),
  name text not null unique check (name ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'),
  rights text not null check (rights in ('read', 'operate', 'admin')),
  token_hash bytea not null unique check (length(token_hash) = 32),
  created_by text not null default session_user
);
comment on table sync.access_tokens is 'Tokens that people and programs show to `collab-sync serve`, beside HTTP_TOKEN (collab-sync token add). A row that is deleted is a token withdrawn, with the sessions that began with it.';
comment on column sync.access_tokens.token_id is 'Our id of the token; never given twice, so that no session outlives its token.';
comment on column sync.access_tokens.created_at is 'When it was added.';
comment on column sync.access_tokens.name is 'Whose it is, or what for.';
comment on column sync.access_tokens.rights is 'read: everything that only reads, but the queue''s dashboard. operate: also what changes something. admin: everything.';
comment on column sync.access_tokens.token_hash is 'SHA-256 of the token, which itself is kept nowhere. It has 256 random bits, so that no guess is worth a slow hash.';
comment on column sync.access_tokens.created_by is 'The PostgreSQL role that added it.';

-- A grant belongs to the role that it was given to, on the server where it was given: a role that was dropped and
-- created again has another oid. After a restore elsewhere no oid means anything, and the name counts until
-- `collab-sync migrate` or `grant` notes the oids of that server.
alter table collab_store.organization_grants rename to organization_grants_by_role;
alter table collab_store.organization_grants_by_role
  add column role_oid oid,
  add column server_id bigint,
  drop constraint organization_grants_pkey;
create unique index on collab_store.organization_grants_by_role (organization_key, server_id, role_oid);
comment on column collab_store.organization_grants_by_role.role_name is 'The PostgreSQL role, by the name that it had when the grants were last written to.';
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

-- Policies follow a table that is renamed: from now on they look into the view.
do $$
declare
  policy record;
begin
  if to_regrole('collab_views') is not null then
    grant select on collab_store.organization_grants to collab_views;
  end if;
  for policy in select * from pg_catalog.pg_policies where qual like '%organization_grants_by_role%' loop
    execute format('alter policy %I on %I.%I using (%s)', policy.policyname, policy.schemaname, policy.tablename,
      replace(policy.qual, 'organization_grants_by_role', 'organization_grants'));
  end loop;
end
$$;
