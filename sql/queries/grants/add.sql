-- Lets a role see an organization. Returns nothing where the catalog lacks it.
-- Params: $1 role, $2 organization id.
insert into collab_store.organization_grants as g (role_name, organization_key)
select $1, o.organization_key from collab_store.organizations o where o.organization_id = $2
on conflict (role_name, organization_key) do update set granted_at = g.granted_at
returning organization_key
