-- Records that users of an organization were written from a scope outside the batch of its own listing. An older response
-- to that listing is then discarded, and the next one is compared even if it equals the last stored one. No row if a
-- newer claim has written to that batch already.
-- Params: $1 organizationKey, $2 claimNo.
with own as (
  select batch_key, scope_no from collab_store.listings where kind = 'organization' and scope_key = $1 and operation = 'users'
), touched as (
  update collab_store.batches b set version = $2
  from own where b.batch_key = own.batch_key and b.version <= $2
  returning b.batch_key
), forgotten as (
  update collab_store.listings l set body_digest = null, content_digest = null
  from own where l.batch_key = own.batch_key and l.scope_no = own.scope_no
    and (l.body_digest is not null or l.content_digest is not null)
)
select batch_key from touched
