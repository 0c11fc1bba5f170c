-- Finishes pending items of a run that is stopping; scopes that were not fetched are skipped. Items in progress are
-- left to their live workers, which first record their calls.
-- Params: $1 runId, $2 itemId? (that this worker processes), $3 deadAfterS.
update sync.run_items i
set state = 'done', finished_at = now(),
  scopes_skipped = i.scopes_planned - i.scopes_succeeded - i.scopes_failed - i.scopes_held
from sync.runs r
where i.run_id = $1 and i.state = 'pending' and r.run_id = i.run_id and r.stopping is not null
  and (i.item_id = $2 or not exists (
    select from sync.workers w
    where w.worker_id = i.worker_id and w.heartbeat_at > now() - make_interval(secs => $3)))
