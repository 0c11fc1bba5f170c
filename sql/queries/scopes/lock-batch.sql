-- Takes the batch for this transaction, so that one run at a time writes to its scopes.
-- Params: $1 batchKey.
-- Prepared.
select version from collab_store.batches where batch_key = $1 for no key update
