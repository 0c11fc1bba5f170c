-- Batches as they are now.
-- Params: $1 keys.
-- Never null: batch_xmin.
select b.batch_key, b.operation, b.scopes, b.checked_at, b.xmin::text as batch_xmin
from collab_store.batches b
where b.batch_key = any($1)
