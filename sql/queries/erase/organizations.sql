-- The organizations of an erasure.
-- Params: $1 organizationId?.
select organization_key from collab_store.organizations where $1::text is null or organization_id = $1
