-- Finishes items of continuous refresh from earlier days if their worker is dead or has begun another day. The run of
-- that day is finished when none is pending.
-- Params: $1 workerId, $2 itemId? (current item of this worker), $3 deadAfterS.
-- Prepared.
update sync.run_items i
set state = 'done', finished_at = now(), scopes_planned = i.scopes_succeeded + i.scopes_failed + i.scopes_held
from sync.runs r
where i.kind = 'refresh' and i.state = 'pending' and r.run_id = i.run_id and r.finished_at is null
  and r.request_key < 'refresh ' || (select (now() at time zone schedule_time_zone)::date::text from collab_store.definitions)
  and case when i.worker_id = $1 then i.item_id is distinct from $2
    else not exists (select from sync.workers w where w.worker_id = i.worker_id and w.heartbeat_at > now() - make_interval(secs => $3)) end
