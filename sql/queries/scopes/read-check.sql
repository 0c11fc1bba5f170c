-- Time of the last successful check of a scope; null if there was none.
-- Params: $1 batchKey, $2 scopeNo.
select collab_store.last_good_check(x.own_checked_at, b.checked_at) as checked_at
from collab_store.scopes x
join collab_store.batches b using (batch_key)
where x.batch_key = $1 and x.scope_no = $2
