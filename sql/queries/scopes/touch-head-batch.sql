-- Notes that users of an organization were written from a scope outside its first users batch, so that an older answer to
-- its own listing is thrown away. Returns nothing where a newer one has written already.
-- Params: $1 organizationKey, $2 claimNo.
update collab_store.batches set version = $2
where organization_key = $1 and operation = 'users' and batch_no = 0 and version <= $2
returning batch_key
