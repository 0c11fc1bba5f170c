-- One active organization of the catalog; nothing where it is empty.
-- Params: none.
select organization_id from collab_store.organizations where active order by organization_key limit 1
