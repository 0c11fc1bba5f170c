-- The organizations that a role was granted one by one.
-- Params: $1 role.
select o.organization_id
from collab_store.organization_grants g
join collab_store.organizations o using (organization_key)
where g.role_name = $1
order by o.organization_id
