-- Creates the comments batches for new annotations.
-- Params: none.
insert into collab_store.batches (organization_key, operation, batch_no)
select distinct organization_key, 'comments', number / 256
from import_new_annotations
order by 1, 3
on conflict do nothing;
