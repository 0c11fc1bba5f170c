-- Locks the batch for this transaction, so that one run at a time writes to its scopes, and sets the run for the feed
-- of changes.
-- Params: $1 batchKey, $2 runId?.
-- Never null: batch_xmin.
-- Prepared.
select version, xmin::text as batch_xmin, set_config('collab_sync.run_id', coalesce($2, ''), true) as noted
from collab_store.batches where batch_key = $1 for no key update
