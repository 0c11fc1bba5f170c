-- Writes grants to the roles of this server: takes the names of now, forgets roles that were dropped, and after a restore
-- from another server takes the roles that have the names of then.
-- Params: none.
with here as (
  select system_identifier as server_id from pg_catalog.pg_control_system()
), stale as (
  delete from collab_store.organization_grants_by_role g
  using here
  where (g.server_id = here.server_id and not exists (select from pg_catalog.pg_roles r where r.oid = g.role_oid and r.rolname = g.role_name))
    or (g.server_id is distinct from here.server_id and exists (select from pg_catalog.pg_roles r where r.rolname = g.role_name))
  returning g.organization_key, g.role_name, g.role_oid, g.granted_at, g.server_id
)
insert into collab_store.organization_grants_by_role (organization_key, role_name, granted_at, role_oid, server_id)
select distinct on (s.organization_key, r.oid) s.organization_key, r.rolname, s.granted_at, r.oid, here.server_id
from here, stale s
join pg_catalog.pg_roles r on case when s.server_id = (select server_id from here) then r.oid = s.role_oid else r.rolname = s.role_name end
order by s.organization_key, r.oid, s.granted_at
on conflict do nothing
