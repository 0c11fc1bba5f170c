-- Time of the last successful check of a scope, including passes of continuous refresh; null if there was none.
-- Params: $1 batchKey, $2 scopeNo.
select greatest(collab_store.last_good_check(x.own_checked_at, b.checked_at), (
    select w.pass_started_at
    from collab_store.annotations a
    join collab_store.pass_checks w using (annotation_key)
    where a.batch_key = x.batch_key and a.scope_no = x.scope_no
  )) as checked_at
from collab_store.scopes x
join collab_store.batches b using (batch_key)
where x.batch_key = $1 and x.scope_no = $2
