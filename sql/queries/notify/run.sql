-- Who requested a run, what it fetches, and who cancelled it: read when its message is sent, because it may name persons.
-- Params: $1 runId.
select r.scope, r.retry_of, r.failing,
  (select a.by from sync.actions a where a.run_id = r.run_id and a.action = 'run_requested') as requested_by,
  (select a.by from sync.actions a where a.run_id = r.run_id and a.action = 'run_cancelled') as cancelled_by
from sync.runs r
where r.run_id = $1
