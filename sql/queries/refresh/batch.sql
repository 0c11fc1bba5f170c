-- The current state of a batch.
-- Params: $1 batchKey.
-- Never null: batch_xmin.
-- Prepared.
select operation, checked_at, xmin::text as batch_xmin from collab_store.batches where batch_key = $1
