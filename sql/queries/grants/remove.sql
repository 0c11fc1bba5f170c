-- Takes an organization, or all, away from a role.
-- Params: $1 role, $2 organizationId?.
delete from collab_store.organization_grants_by_role g
using collab_store.organizations o
where o.organization_key = g.organization_key and g.role_oid = to_regrole(quote_ident($1))
  and ($2::text is null or o.organization_id = $2)
