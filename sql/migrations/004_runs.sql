-- What the workers did. PostgreSQL stores the life of every run; the queue only delivers jobs.
create schema sync;
comment on schema sync is 'Operations: runs, failures, rejected records, workers, the schedule and actions of users. Times come from collab-sync''s clock.';

create sequence sync.claim_no;
comment on sequence sync.claim_no is 'Orders claims of work by their start, independently of the clocks of machines.';

-- Where the time of a run was spent (service_ms to cpu_ms). Calls and statements overlap, so a sum can exceed the
-- duration of the run.
create table sync.runs (
  run_id uuid primary key default gen_random_uuid(),
  trigger text not null check (trigger in ('schedule', 'cli', 'http', 'api', 'hint', 'refresh')),
  status text not null default 'queued'
    check (status in ('queued', 'running', 'succeeded', 'partial', 'failed', 'cancelled')),
  scope jsonb not null default '{}',
  requested_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz,
  stopping text check (stopping in ('failed', 'cancelled')),
  stopped_for text check (stopped_for in ('credentials', 'unreachable')),
  problem text,
  request_key text unique,
  retry_of uuid, -- no reference: the retried run may be pruned
  failing boolean not null default false,
  scopes_expected bigint not null default 0,
  calls bigint not null default 0,
  retries bigint not null default 0,
  scopes_planned bigint not null default 0,
  scopes_succeeded bigint not null default 0,
  scopes_failed bigint not null default 0,
  scopes_held bigint not null default 0,
  scopes_skipped bigint not null default 0,
  records_received bigint not null default 0,
  records_inserted bigint not null default 0,
  records_updated bigint not null default 0,
  records_unchanged bigint not null default 0,
  records_rejected bigint not null default 0,
  records_null bigint not null default 0,
  organizations_done bigint not null default 0,
  documents_done bigint not null default 0,
  groups_done bigint not null default 0,
  annotations_done bigint not null default 0,
  users_written bigint not null default 0,
  users_removed bigint not null default 0,
  members_removed bigint not null default 0,
  comments_written bigint not null default 0,
  comments_deleted bigint not null default 0,
  rejected bigint not null default 0,
  failures bigint generated always as (scopes_failed) stored,
  service_ms bigint not null default 0,
  waited_ms bigint not null default 0,
  waited_throttled_ms bigint not null default 0,
  database_ms bigint not null default 0,
  cpu_ms bigint not null default 0,
  records_lost bigint not null default 0,
  constraint settled_runs_have_a_time check ((finished_at is not null) = (status in ('succeeded', 'partial', 'failed', 'cancelled'))),
  constraint settled_scopes_add_up check (finished_at is null
    or scopes_planned = scopes_succeeded + scopes_failed + scopes_held + scopes_skipped),
  constraint settled_records_add_up check (finished_at is null
    or records_received = records_inserted + records_updated + records_unchanged + records_rejected + records_null),
  constraint succeeded_means_all check (status <> 'succeeded'
    or (scopes_planned = scopes_succeeded and problem is null))
);
create index on sync.runs (requested_at desc, run_id desc);
create index retries on sync.runs (retry_of) where retry_of is not null;
create unique index one_scheduled_run_at_a_time on sync.runs (trigger)
  where trigger = 'schedule' and status in ('queued', 'running');
-- Without continuous refresh, a hint starts a run that is limited to its scope. A hint that arrives while such a run
-- waits for a worker is added to that run.

create index queued_hints on sync.runs using hash (scope) where trigger = 'hint' and status = 'queued';
comment on table sync.runs is 'One row per run. Its counts are written once, when it finishes; until then they are in run_items. calls and retries are updated about every second.';
comment on column sync.runs.run_id is 'As in reporting.runs.';
comment on column sync.runs.trigger is 'As in reporting.runs.';
comment on column sync.runs.status is 'As in reporting.runs. The column problem says why a run failed.';
comment on column sync.runs.scope is 'What the run is limited to; an empty object means the whole catalog. A retry copies it.';
comment on column sync.runs.requested_at is 'As in reporting.runs.';
comment on column sync.runs.started_at is 'As in reporting.runs.';
comment on column sync.runs.finished_at is 'As in reporting.runs.';
comment on column sync.runs.stopping is 'How the run is to end early: no further calls are made for it. Null if it is not.';
comment on column sync.runs.stopped_for is 'Why the service could not be called, if that stopped the run: credentials or unreachable; otherwise null.';
comment on column sync.runs.problem is 'Why the run did not simply succeed, as one sentence; otherwise null.';
comment on column sync.runs.request_key is 'Identifies the request, so that a request delivered twice starts one run.';
comment on column sync.runs.retry_of is 'As in reporting.runs.';
comment on column sync.runs.failing is 'True if the run fetches only scopes whose last check had failed.';
comment on column sync.runs.scopes_expected is 'As in reporting.runs.';
comment on column sync.runs.calls is 'As in reporting.runs.';
comment on column sync.runs.retries is 'As in reporting.runs.';
comment on column sync.runs.scopes_planned is 'As in reporting.runs.';
comment on column sync.runs.scopes_succeeded is 'As in reporting.runs.';
comment on column sync.runs.scopes_failed is 'As in reporting.runs. Each has a row in sync.failures.';
comment on column sync.runs.scopes_held is 'As in reporting.runs. See sync.held.';
comment on column sync.runs.scopes_skipped is 'As in reporting.runs.';
comment on column sync.runs.records_received is 'As in reporting.runs.';
comment on column sync.runs.records_inserted is 'As in reporting.runs.';
comment on column sync.runs.records_updated is 'As in reporting.runs.';
comment on column sync.runs.records_unchanged is 'As in reporting.runs.';
comment on column sync.runs.records_rejected is 'As in reporting.runs. Each has a row in sync.rejected_records.';
comment on column sync.runs.records_null is 'As in reporting.runs.';
comment on column sync.runs.organizations_done is 'As in reporting.runs.';
comment on column sync.runs.documents_done is 'As in reporting.runs.';
comment on column sync.runs.groups_done is 'As in reporting.runs.';
comment on column sync.runs.annotations_done is 'As in reporting.runs.';
comment on column sync.runs.users_written is 'As in reporting.runs.';
comment on column sync.runs.users_removed is 'As in reporting.runs.';
comment on column sync.runs.members_removed is 'As in reporting.runs.';
comment on column sync.runs.comments_written is 'As in reporting.runs.';
comment on column sync.runs.comments_deleted is 'As in reporting.runs.';
comment on column sync.runs.rejected is 'As in reporting.runs.';
comment on column sync.runs.failures is 'Same as scopes_failed.';
comment on column sync.runs.service_ms is 'Milliseconds that calls waited for responses, summed over concurrent calls.';
comment on column sync.runs.waited_ms is 'Milliseconds that calls waited for a slot of SYNC_RATE_LIMIT, without pauses; summed likewise.';
comment on column sync.runs.waited_throttled_ms is 'Milliseconds that calls waited because the service throttled them or another process; summed likewise.';
comment on column sync.runs.database_ms is 'Milliseconds that batches waited for PostgreSQL; summed likewise.';
comment on column sync.runs.cpu_ms is 'CPU milliseconds of the processes that worked on the run, during that time.';
comment on column sync.runs.records_lost is 'Whole records that were rejected and not set aside. One makes the run partial.';
comment on index sync.queued_hints is 'Finds the run of a hint that no worker has started.';
comment on index sync.retries is 'Finds the retries of a run.';

create table sync.run_items (
  item_id bigint generated always as identity,
  run_id uuid not null references sync.runs on delete cascade,
  calls bigint not null default 0,
  retries bigint not null default 0,
  scopes_planned bigint not null default 0,
  scopes_succeeded bigint not null default 0,
  scopes_failed bigint not null default 0,
  scopes_held bigint not null default 0,
  scopes_skipped bigint not null default 0,
  records_received bigint not null default 0,
  records_inserted bigint not null default 0,
  records_updated bigint not null default 0,
  records_unchanged bigint not null default 0,
  records_rejected bigint not null default 0,
  records_null bigint not null default 0,
  organizations_done bigint not null default 0,
  documents_done bigint not null default 0,
  groups_done bigint not null default 0,
  annotations_done bigint not null default 0,
  users_written bigint not null default 0,
  users_removed bigint not null default 0,
  members_removed bigint not null default 0,
  comments_written bigint not null default 0,
  comments_deleted bigint not null default 0,
  rejected bigint not null default 0,
  organization_key integer,
  batch_key integer,
  after_key integer not null default 0,
  round smallint not null default 0,
  attempts smallint not null default 0,
  claimed_at timestamptz,
  finished_at timestamptz,
  kind text not null check (kind in ('page-organizations', 'page-documents', 'sync-batch', 'refresh')),
  state text not null default 'pending' check (state in ('pending', 'done')),
  worker_id text,
  only_scopes bit varying,
  done_scopes bit varying,
  service_ms integer not null default 0,
  waited_ms integer not null default 0,
  waited_throttled_ms integer not null default 0,
  database_ms integer not null default 0,
  cpu_ms integer not null default 0,
  records_lost bigint not null default 0,
  primary key (run_id, item_id),
  -- checked at each commit, because when the run finishes the response that broke it can no longer be identified
  constraint records_add_up check (
    records_received = records_inserted + records_updated + records_unchanged + records_rejected + records_null)
-- Pending items are found by pending_items, in which finished ones remain until the table is vacuumed. By default, autovacuum
-- waits for a fifth of all nights that are stored.
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.005);
create index pending_items on sync.run_items (run_id, item_id) where state = 'pending';
comment on table sync.run_items is 'Work items of a run, each delivered by one job of the queue. The transaction that writes an item''s results also finishes it and inserts the items that follow. A run is finished when no item is pending.';
comment on column sync.run_items.item_id is 'Internal ID, in the job''s data.';
comment on column sync.run_items.run_id is 'The run of the item.';
comment on column sync.run_items.calls is 'Calls counted by its commits, including retries, without discarded responses.';
comment on column sync.run_items.retries is 'Calls among them that were retries.';
comment on column sync.run_items.scopes_planned is 'As in reporting.runs.';
comment on column sync.run_items.scopes_succeeded is 'As in reporting.runs.';
comment on column sync.run_items.scopes_failed is 'As in sync.runs.';
comment on column sync.run_items.scopes_held is 'As in sync.runs.';
comment on column sync.run_items.scopes_skipped is 'As in reporting.runs.';
comment on column sync.run_items.records_received is 'As in reporting.runs.';
comment on column sync.run_items.records_inserted is 'As in reporting.runs.';
comment on column sync.run_items.records_updated is 'As in reporting.runs.';
comment on column sync.run_items.records_unchanged is 'As in reporting.runs.';
comment on column sync.run_items.records_rejected is 'As in sync.runs.';
comment on column sync.run_items.records_null is 'As in reporting.runs.';
comment on column sync.run_items.organizations_done is 'As in reporting.runs.';
comment on column sync.run_items.documents_done is 'As in reporting.runs.';
comment on column sync.run_items.groups_done is 'As in reporting.runs.';
comment on column sync.run_items.annotations_done is 'As in reporting.runs.';
comment on column sync.run_items.users_written is 'As in reporting.runs.';
comment on column sync.run_items.users_removed is 'As in reporting.runs.';
comment on column sync.run_items.members_removed is 'As in reporting.runs.';
comment on column sync.run_items.comments_written is 'As in reporting.runs.';
comment on column sync.run_items.comments_deleted is 'As in reporting.runs.';
comment on column sync.run_items.rejected is 'As in reporting.runs.';
comment on column sync.run_items.organization_key is 'For page-documents: the organization to page through.';
comment on column sync.run_items.batch_key is 'For sync-batch: the batch whose scopes to fetch.';
comment on column sync.run_items.after_key is 'For paging items: the last key of the previous page.';
comment on column sync.run_items.round is 'Number of earlier pages of its organization. The queue serves low rounds first.';
comment on column sync.run_items.attempts is 'Number of times a worker claimed it since its last commit of another scope.';
comment on column sync.run_items.claimed_at is 'When a worker first claimed it.';
comment on column sync.run_items.finished_at is 'When it finished; null until then.';
comment on column sync.run_items.kind is 'Name of its job. refresh: the continuous refresh of one worker and day, without a job.';
comment on column sync.run_items.state is 'pending or done.';
comment on column sync.run_items.worker_id is 'The worker that last claimed it.';
comment on column sync.run_items.only_scopes is 'Bitmap of the batch''s scopes to fetch; null means all.';
comment on column sync.run_items.done_scopes is 'Bitmap of the batch''s scopes already committed; null means none.';
comment on column sync.run_items.service_ms is 'As in sync.runs.';
comment on column sync.run_items.waited_ms is 'As in sync.runs.';
comment on column sync.run_items.waited_throttled_ms is 'As in sync.runs.';
comment on column sync.run_items.database_ms is 'As in sync.runs.';
comment on column sync.run_items.cpu_ms is 'As in sync.runs. It covers the worker''s time since its previous commit of any item.';
comment on column sync.run_items.records_lost is 'As in sync.runs.';

create table sync.processes (
  worker_id text primary key,
  kind text not null default 'worker' check (kind in ('worker', 'run', 'serve')),
  version text,
  started_at timestamptz not null,
  heartbeat_at timestamptz not null,
  calls_in_flight integer not null,
  calls_limit integer not null,
  latency_ms integer,
  rate_limit double precision,
  problem text,
  problem_since timestamptz,
  waiting jsonb,
  settings jsonb,
  application_name text, -- identifies the sessions of a worker that is frozen inside a transaction
  configuration jsonb
) with (fillfactor = 50);
comment on table sync.processes is 'Current and recent processes of worker, run and serve. A process without a heartbeat for 30 seconds is considered dead.';
comment on column sync.processes.worker_id is 'host:pid:random.';
comment on column sync.processes.kind is 'worker, run (a process that executes one run) or serve (which makes no calls to the service).';
comment on column sync.processes.version is 'Its version of collab-sync.';
comment on column sync.processes.started_at is 'When it started.';
comment on column sync.processes.heartbeat_at is 'When it last reported that it is alive.';
comment on column sync.processes.calls_in_flight is 'Its calls to the service in progress at that time.';
comment on column sync.processes.calls_limit is 'Its current limit of calls in progress, adapted to the service.';
comment on column sync.processes.latency_ms is 'Mean duration of recent calls in milliseconds.';
comment on column sync.processes.rate_limit is 'SYNC_RATE_LIMIT of the process, in calls per second; null if not set. The lowest one of live workers applies to all.';
comment on column sync.processes.problem is 'Why it cannot accept jobs or call the service, in sentences; null if it can.';
comment on column sync.processes.problem_since is 'When the problem began; null if there is none.';
comment on column sync.processes.waiting is 'What it waited for at its last heartbeat: kind (throttled, rate_limit, rate_limit_store, away, overtaken, lock, retry, queue, paused_by_person, refresh_paused or idle), since, until, givesUpAt, a sentence, and the runId of a retry; null if it was working.';
comment on column sync.processes.settings is 'Settings that must be the same in all workers; null for others than workers.';
comment on column sync.processes.application_name is 'application_name of its sessions in pg_stat_activity; null if DATABASE_URL sets another name.';
comment on column sync.processes.configuration is 'The settings with which it started: name, value (set for a secret), origin (environment, .env, file or default), and isHidden where an empty variable hides a value in .env.';

create view sync.workers as
select worker_id, started_at, heartbeat_at, calls_in_flight, calls_limit, latency_ms, rate_limit, problem, problem_since,
  waiting, settings, application_name, kind, version, configuration
from sync.processes
where kind <> 'serve';
comment on view sync.workers is 'Processes that execute jobs: those of worker and run.';
comment on column sync.workers.worker_id is 'As in sync.processes.';
comment on column sync.workers.started_at is 'As in sync.processes.';
comment on column sync.workers.heartbeat_at is 'As in sync.processes.';
comment on column sync.workers.calls_in_flight is 'As in sync.processes.';
comment on column sync.workers.calls_limit is 'As in sync.processes.';
comment on column sync.workers.latency_ms is 'As in sync.processes.';
comment on column sync.workers.rate_limit is 'As in sync.processes.';
comment on column sync.workers.problem is 'As in sync.processes.';
comment on column sync.workers.problem_since is 'As in sync.processes.';
comment on column sync.workers.waiting is 'As in sync.processes.';
comment on column sync.workers.settings is 'As in sync.processes.';
comment on column sync.workers.application_name is 'As in sync.processes.';
comment on column sync.workers.kind is 'As in sync.processes.';
comment on column sync.workers.version is 'As in sync.processes.';
comment on column sync.workers.configuration is 'As in sync.processes.';
