-- Creates notifications of each run that finished within a day and after a receiver was first seen with the type:
-- run.finished, and night.ended of nightly runs. Runs of hints and continuous refresh are excluded.
-- Params: $1 receivers.
-- Prepared.
insert into sync.notifications (thing, kind, run_id, facts)
select e.kind || ':' || r.run_id, e.kind, r.run_id, jsonb_build_object(
  'kind', e.kind, 'at', to_char(r.finished_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
  'runId', r.run_id, 'trigger', r.trigger, 'status', r.status)
from sync.runs r
cross join (values ('run.finished'), ('night.ended')) e (kind)
where r.finished_at >= now() - interval '1 day' and r.trigger not in ('hint', 'refresh')
  and (e.kind = 'run.finished' or r.trigger = 'schedule')
  and exists (
    select from sync.notification_receivers s
    where s.receiver = any($1::text[]) and s.event = e.kind and s.first_seen_at <= r.finished_at
  )
  and not exists (select from sync.notifications n where n.thing = e.kind || ':' || r.run_id)
order by r.finished_at, r.run_id
limit 100
