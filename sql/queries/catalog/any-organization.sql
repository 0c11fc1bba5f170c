-- One active organization of the catalog; no row if the catalog is empty.
-- Params: none.
select organization_id from collab_store.organizations where active order by organization_key limit 1
