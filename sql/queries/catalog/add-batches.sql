-- Creates the batches for new scopes, in the order of their operations, so that runs fetch them in this order.
-- Params: $1 operations.
insert into collab_store.batches (organization_key, operation, batch_no)
select organization_key, operation, batch_no
from (
  select distinct organization_key, operation, number / 256 as batch_no from import_new_listings
  union all
  select distinct organization_key, 'comments', number / 256 from import_new_annotations
) b
order by array_position($1::text[], operation), organization_key, batch_no
on conflict do nothing;
