-- The batches that a run was planned with.
-- Params: $1 runId.
select i.batch_key, b.operation, i.only_scopes::text as only_scopes
from sync.run_items i
join collab_store.batches b using (batch_key)
where i.run_id = $1 and i.kind = 'sync-batch'
order by i.item_id
