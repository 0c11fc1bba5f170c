-- Locks batches for this transaction, each as a commit does, in the order of their keys: whatever locks several locks them so.
-- Params: $1 batchKeys.
-- Never null: batch_key.
select batch_key from collab_store.batches where batch_key = any($1) order by batch_key for no key update
