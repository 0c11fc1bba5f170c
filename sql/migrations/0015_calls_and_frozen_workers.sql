-- Up Migration
-- Calls are counted in the run as they are sent, so that those whose answers were thrown away count too. Until now a run's
-- calls were the sum of its items', written when it was settled: runs under way begin with what their items say.

update sync.runs r
set calls = t.calls, retries = t.retries
from (select run_id, sum(calls) as calls, sum(retries) as retries from sync.run_items group by run_id) t
where t.run_id = r.run_id and r.finished_at is null;

comment on table sync.runs is 'One row a run. Its counts are written once, when it is settled, and until then are in run_items; calls and retries are counted here about once a second.';
comment on column sync.runs.calls is 'Calls sent to the service, further tries included, whatever became of their answers. Written about once a second, also after the run was settled: those of the last second of a worker that was killed are missing.';
comment on column sync.run_items.calls is 'Calls counted by its commits, further tries included. Those whose answers were thrown away are in runs alone.';
comment on column sync.run_items.retries is 'Of these calls, those that tried again.';

-- A worker that is frozen inside a transaction is found by its sessions.
alter table sync.workers add column application_name text;
comment on column sync.workers.application_name is 'What pg_stat_activity shows for its sessions; null where DATABASE_URL sets another name.';
