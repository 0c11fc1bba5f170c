-- A worker takes up an item; returns nothing where it is done already.
-- Params: $1 runId, $2 itemId, $3 workerId, $4 isAgain (the same worker takes it up again, which is no further attempt).
update sync.run_items i
set attempts = i.attempts + (not $4)::int, worker_id = $3, claimed_at = coalesce(i.claimed_at, now())
from sync.runs r
where i.run_id = $1 and i.item_id = $2 and i.state = 'pending' and r.run_id = i.run_id
returning i.kind, i.batch_key, i.round, i.attempts, i.only_scopes::text as only_scopes, i.done_scopes::text as done_scopes,
  (select b.operation from collab_store.batches b where b.batch_key = i.batch_key) as operation,
  (select b.version from collab_store.batches b where b.batch_key = i.batch_key) as batch_version,
  (select max(e.erasure_id) from sync.erasures e) as last_erasure,
  r.status as run_status, r.scope, r.stopping, r.trigger, nextval('sync.claim_no') as claim_no, i.claimed_at, now() as at
