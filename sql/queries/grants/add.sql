-- Lets a role see an organization. Returns nothing where the catalog lacks it.
-- Params: $1 role, $2 organizationId.
insert into collab_store.organization_grants_by_role as g (role_name, organization_key, role_oid, server_id)
select $1, o.organization_key, to_regrole(quote_ident($1)), s.system_identifier
from collab_store.organizations o, pg_catalog.pg_control_system() s
where o.organization_id = $2
on conflict (organization_key, server_id, role_oid) do update set granted_at = g.granted_at
returning organization_key
