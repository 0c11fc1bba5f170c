-- Records that users of an organization were written from a scope outside its first users batch. An older response to
-- its own listing is then discarded, and the next one is compared even if it equals the last stored one. No row if a
-- newer claim has written to that batch already.
-- Params: $1 organizationKey, $2 claimNo.
with touched as (
  update collab_store.batches set version = $2
  where organization_key = $1 and operation = 'users' and batch_no = 0 and version <= $2
  returning batch_key
), forgotten as (
  update collab_store.organizations set body_digest = null, content_digest = null
  where organization_key = $1 and (body_digest is not null or content_digest is not null)
)
select batch_key from touched
