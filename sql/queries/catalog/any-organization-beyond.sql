-- One active organization of the catalog that is none of those given.
-- Params: $1 organizationIds.
select organization_id from collab_store.organizations
where active and organization_id <> all ($1::text[]) order by organization_key limit 1
