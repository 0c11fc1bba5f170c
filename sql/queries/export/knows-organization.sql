-- Whether an organization is or was in the catalog.
-- Params: $1 organizationId.
-- Never null: known.
select exists (select from collab.organizations where organization_id = $1) as known
