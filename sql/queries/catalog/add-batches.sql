-- Creates the batches for new scopes, first those of listings.
-- Params: none.
insert into collab_store.batches (organization_key, operation, batch_no)
select organization_key, operation, batch_no
from (
  select distinct organization_key, 'users' as operation, number / 256 as batch_no from import_new_listings
  union all
  select distinct organization_key, 'comments', number / 256 from import_new_annotations
) b
order by operation desc, organization_key, batch_no
on conflict do nothing;
