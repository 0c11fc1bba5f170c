-- Runs that failed or were cancelled within a day and since notifications are on, and have no notification yet. Runs of
-- hints are excluded: there may be thousands while the service is unreachable, and their failures are reported
-- together.
-- Params: $1 since (when notifications began).
-- Never null: finished_at.
select run_id, trigger, status, finished_at, scopes_planned, scopes_succeeded, scopes_failed, scopes_held, scopes_skipped
from sync.runs r
where finished_at >= greatest($1, now() - interval '1 day') and status in ('failed', 'cancelled')
  and trigger <> 'hint'
  and not exists (select from sync.notifications n where n.thing = 'run:' || r.run_id)
order by finished_at, run_id
limit 100
