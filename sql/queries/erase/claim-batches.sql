-- Waits for the commits in hand, and has answers that were asked for before now thrown away and asked for again: none of
-- them can bring back what is erased. In the order of the keys, as everyone who takes several.
-- Params: $1 organization id or null for all.
with taken as (
  select b.batch_key
  from collab_store.batches b
  join collab_store.organizations o using (organization_key)
  where $1::text is null or o.organization_id = $1
  order by b.batch_key
  for no key update of b
)
update collab_store.batches b
set version = nextval('sync.claim_no')
from taken
where b.batch_key = taken.batch_key
