-- The batches of a run that is limited to some scopes. Bit n of only_scopes is '1' if scope n is to be fetched; null
-- means all.
-- Params: $1 runId.
-- Never null: batch_key.
select i.batch_key, b.operation, i.only_scopes::text as only_scopes
from sync.run_items i
join collab_store.batches b using (batch_key)
where i.run_id = $1 and i.kind = 'sync-batch'
order by i.item_id
