-- Makes responses to earlier calls invalid, so that they are discarded and fetched again and cannot restore erased
-- data. Batches being committed are left for the next call; with $3 it waits for the first of them. A transaction that
-- holds a lock here therefore waits for no other.
-- Params: $1 organizationId? (null for all), $2 claimNo (to reach), $3 waits (for one that is locked).
with free as (
  select b.batch_key
  from collab_store.batches b
  where not $3 and b.version < $2
    and ($1::text is null
      or b.organization_key = (select o.organization_key from collab_store.organizations o where o.organization_id = $1))
  limit 500
  for no key update skip locked
), waited as (
  select b.batch_key
  from collab_store.batches b
  where $3 and b.batch_key = (
    select min(f.batch_key) from collab_store.batches f
    where f.version < $2
      and ($1::text is null
        or f.organization_key = (select o.organization_key from collab_store.organizations o where o.organization_id = $1)))
  for no key update
)
update collab_store.batches b
set version = nextval('sync.claim_no')
where b.batch_key in (select f.batch_key from free f union all select w.batch_key from waited w)
