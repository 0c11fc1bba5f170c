-- Creates a notification of each run that failed or was cancelled within a day and since notifications began. Runs of
-- hints are excluded: there may be thousands while the service is unreachable, and their failures are reported
-- together.
-- Params: $1 since (when notifications began).
-- Prepared.
insert into sync.notifications (thing, kind, run_id, facts)
select 'run:' || run_id, 'run.' || status, run_id, jsonb_build_object(
  'kind', 'run.' || status, 'at', to_char(finished_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
  'runId', run_id, 'trigger', trigger, 'scopesPlanned', scopes_planned, 'scopesSucceeded', scopes_succeeded,
  'scopesFailed', scopes_failed, 'scopesHeld', scopes_held, 'scopesSkipped', scopes_skipped)
from sync.runs r
where finished_at >= greatest($1, now() - interval '1 day') and status in ('failed', 'cancelled')
  and trigger <> 'hint'
  and not exists (select from sync.notifications n where n.thing = 'run:' || r.run_id)
order by finished_at, run_id
limit 100
