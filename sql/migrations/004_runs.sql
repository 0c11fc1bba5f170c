-- Up Migration
-- What the worker did. PostgreSQL knows the life of every run; the queue only delivers.
create schema sync;
comment on schema sync is 'What the worker did: runs, their items, failures and rejected records.';

create sequence sync.claim_no;
comment on sequence sync.claim_no is 'Orders claims of work by begin, whatever the machines'' clocks say.';

-- Where the time of a run went (service_ms to cpu_ms): calls and statements overlap, so the sums may be many times as long
-- as the run.
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
  retry_of uuid, -- no reference: the run that it retries may be pruned
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
-- Without continuous refresh a hint is a narrowed run, and one that comes while such a run waits for a worker is that run.

create index queued_hints on sync.runs using hash (scope) where trigger = 'hint' and status = 'queued';
comment on table sync.runs is 'One row a run. Its counts are written once, when it is settled, and until then are in run_items; calls and retries are counted here about once a second.';
comment on column sync.runs.run_id is 'Our id, as status and the logs show it; random.';
comment on column sync.runs.trigger is 'Who asked: schedule (nightly), cli, http, api (a program, through the queue), hint (somebody who knows of a change), or refresh: what continuous refresh did in one day, settled after midnight in SYNC_TZ; its scopes are looks.';
comment on column sync.runs.status is 'queued, running, then one of: succeeded (everything is in), partial (some scopes failed or are held, or whole records were rejected; everything else is in), failed (see problem), cancelled.';
comment on column sync.runs.scope is 'What the run was narrowed to; an empty object means the whole catalog. A retry has the scope of the run that it retries, and requests what failed in it only: see retry_of.';
comment on column sync.runs.requested_at is 'When it was asked for.';
comment on column sync.runs.started_at is 'When a worker first processed it.';
comment on column sync.runs.finished_at is 'When it was settled; null until then.';
comment on column sync.runs.stopping is 'Set when the run is to end early: no further call is made for it.';
comment on column sync.runs.stopped_for is 'Why the service could not be called, where that is why the run was stopped: credentials or unreachable.';
comment on column sync.runs.problem is 'One sentence for a person, where the run did not simply succeed.';
comment on column sync.runs.request_key is 'Names the request that made it, so that a request delivered twice makes one run.';
comment on column sync.runs.retry_of is 'The run whose failed scopes this run fetches again; null if it is not a retry.';
comment on column sync.runs.failing is 'True if the run requests only those scopes of its scope whose last try had failed when it was requested.';
comment on column sync.runs.scopes_expected is 'Scopes the catalog held for it when it began: the denominator of its progress.';
comment on column sync.runs.calls is 'Calls sent to the service, further tries included, whatever became of their answers. Written about once a second, also after the run was settled: those of the last second of a worker that was killed are missing.';
comment on column sync.runs.retries is 'Of the calls, those that tried again.';
comment on column sync.runs.scopes_planned is 'Scopes this work consists of.';
comment on column sync.runs.scopes_succeeded is 'Scopes whose answer is stored.';
comment on column sync.runs.scopes_failed is 'Scopes that gave no usable answer; each has a row in sync.failures.';
comment on column sync.runs.scopes_held is 'Scopes whose additions are stored but whose removals wait for a person: see sync.held.';
comment on column sync.runs.scopes_skipped is 'Scopes that were not asked, because the run was stopped or cancelled.';
comment on column sync.runs.records_received is 'Records in the stored answers, with the nulls.';
comment on column sync.runs.records_inserted is 'Records that created a row.';
comment on column sync.runs.records_updated is 'Records that changed a row.';
comment on column sync.runs.records_unchanged is 'Records that changed nothing.';
comment on column sync.runs.records_rejected is 'Records of which no row was made: those that could not be stored, and second ones of two equal ones. Each has a row in sync.rejected_records.';
comment on column sync.runs.records_null is 'Nulls in answers to a question by id.';
comment on column sync.runs.organizations_done is 'Organizations whose own user listing was stored.';
comment on column sync.runs.documents_done is 'Documents whose user listing was stored.';
comment on column sync.runs.groups_done is 'User groups whose user listing was stored.';
comment on column sync.runs.annotations_done is 'Annotations whose comments were stored.';
comment on column sync.runs.users_written is 'Rows of collab.users inserted or updated, including users_removed.';
comment on column sync.runs.users_removed is 'Users who were removed from their organization because its listing no longer contains them. A removal that a person accepts is not counted: see sync.held.';
comment on column sync.runs.members_removed is 'Memberships of documents and user groups that ended because the listing no longer contains the user. A removal that a person accepts is not counted.';
comment on column sync.runs.comments_written is 'Rows of collab.comments inserted or updated, without deletions.';
comment on column sync.runs.comments_deleted is 'Comments whose deletion the service confirmed.';
comment on column sync.runs.rejected is 'Whole records that were rejected, and members that a stored record had to go without.';
comment on column sync.runs.failures is 'The same as scopes_failed.';
comment on column sync.runs.service_ms is 'Milliseconds that calls waited for the service''s answers, summed over calls that ran side by side.';
comment on column sync.runs.waited_ms is 'Milliseconds that calls waited for a slot of SYNC_RATE_LIMIT, without pauses; summed likewise.';
comment on column sync.runs.waited_throttled_ms is 'Milliseconds that calls waited because the service throttled them or another process: in a pause, or between two tries of a throttled call; summed likewise.';
comment on column sync.runs.database_ms is 'Milliseconds that batches waited for PostgreSQL: reading what is stored, writing what changed; summed likewise.';
comment on column sync.runs.cpu_ms is 'Milliseconds of CPU of the processes that worked the run, while they did.';
comment on column sync.runs.records_lost is 'Whole records that were rejected and not set aside when the run met them: with one of them it is partial.';
comment on index sync.queued_hints is 'Finds the run of a hint that no worker has begun.';
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
  -- Checked with each commit: when the run is settled it is too late to find the answer that broke it.
  constraint records_add_up check (
    records_received = records_inserted + records_updated + records_unchanged + records_rejected + records_null)
) with (fillfactor = 70);
create index pending_items on sync.run_items (run_id, item_id) where state = 'pending';
comment on table sync.run_items is 'The pieces of a run, each delivered by one job of the queue. An item is done in the transaction that has its effect, which also inserts the items that follow it: a run is over when none is pending.';
comment on column sync.run_items.item_id is 'Our id of the item; the job''s data is this and run_id.';
comment on column sync.run_items.run_id is 'The run it belongs to.';
comment on column sync.run_items.calls is 'Calls counted by its commits, further tries included. Those whose answers were thrown away are in runs alone.';
comment on column sync.run_items.retries is 'Of these calls, those that tried again.';
comment on column sync.run_items.scopes_planned is 'Scopes this work consists of.';
comment on column sync.run_items.scopes_succeeded is 'Scopes whose answer is stored.';
comment on column sync.run_items.scopes_failed is 'Scopes that gave no usable answer; each has a row in sync.failures.';
comment on column sync.run_items.scopes_held is 'Scopes whose additions are stored but whose removals wait for a person: see sync.held.';
comment on column sync.run_items.scopes_skipped is 'Scopes that were not asked, because the run was stopped or cancelled.';
comment on column sync.run_items.records_received is 'Records in the stored answers, with the nulls.';
comment on column sync.run_items.records_inserted is 'Records that created a row.';
comment on column sync.run_items.records_updated is 'Records that changed a row.';
comment on column sync.run_items.records_unchanged is 'Records that changed nothing.';
comment on column sync.run_items.records_rejected is 'As in sync.runs.';
comment on column sync.run_items.records_null is 'Nulls in answers to a question by id.';
comment on column sync.run_items.organizations_done is 'Organizations whose own user listing was stored.';
comment on column sync.run_items.documents_done is 'Documents whose user listing was stored.';
comment on column sync.run_items.groups_done is 'User groups whose user listing was stored.';
comment on column sync.run_items.annotations_done is 'Annotations whose comments were stored.';
comment on column sync.run_items.users_written is 'As in sync.runs.';
comment on column sync.run_items.users_removed is 'As in sync.runs.';
comment on column sync.run_items.members_removed is 'As in sync.runs.';
comment on column sync.run_items.comments_written is 'Rows of collab.comments inserted or updated, without deletions.';
comment on column sync.run_items.comments_deleted is 'Comments whose deletion the service confirmed.';
comment on column sync.run_items.rejected is 'Whole records that were rejected, and members that a stored record had to go without.';
comment on column sync.run_items.organization_key is 'page-documents: the organization to page.';
comment on column sync.run_items.batch_key is 'sync-batch: the batch whose scopes to ask for.';
comment on column sync.run_items.after_key is 'Paging items: the cursor, the last key of the page before.';
comment on column sync.run_items.round is 'How many pages of its organization came before; the queue serves low rounds first, so that a huge organization does not hold up small ones.';
comment on column sync.run_items.attempts is 'How often a worker took it up since something of it was last committed.';
comment on column sync.run_items.claimed_at is 'When a worker first took it up: its answers are not older.';
comment on column sync.run_items.finished_at is 'When it was done.';
comment on column sync.run_items.kind is 'What to do; names the job. refresh: what one worker refreshed in a day, which no job delivers.';
comment on column sync.run_items.state is 'pending or done.';
comment on column sync.run_items.worker_id is 'The worker that last took it up.';
comment on column sync.run_items.only_scopes is 'Bit n is 1 where scope n of the batch is wanted; null means all.';
comment on column sync.run_items.done_scopes is 'Bit n is 1 where scope n of the batch is committed already; null means none.';
comment on column sync.run_items.service_ms is 'As in runs.';
comment on column sync.run_items.waited_ms is 'As in runs.';
comment on column sync.run_items.waited_throttled_ms is 'As in runs.';
comment on column sync.run_items.database_ms is 'As in runs.';
comment on column sync.run_items.cpu_ms is 'As in runs; of what the worker did since the commit before, of whichever item.';
comment on column sync.run_items.records_lost is 'Whole records that were rejected and not set aside.';

create table sync.workers (
  worker_id text primary key,
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
  application_name text -- a worker that is frozen inside a transaction is found by its sessions
) with (fillfactor = 50);
comment on table sync.workers is 'Processes that work, or worked lately. One without a heartbeat for 30 seconds is taken for dead.';
comment on column sync.workers.worker_id is 'host:pid:random.';
comment on column sync.workers.started_at is 'When it started.';
comment on column sync.workers.heartbeat_at is 'When it last said it lives.';
comment on column sync.workers.calls_in_flight is 'Calls to the service it had in flight then.';
comment on column sync.workers.calls_limit is 'Most calls in flight that it had learned the service keeps up with.';
comment on column sync.workers.latency_ms is 'Mean time of its recent calls, in milliseconds.';
comment on column sync.workers.rate_limit is 'SYNC_RATE_LIMIT of the process, in calls a second; null where it sets none. The lowest of the live ones holds for all.';
comment on column sync.workers.problem is 'Why it cannot take jobs or call the service, as sentences; null where it can.';
comment on column sync.workers.problem_since is 'Since when it has had a problem; null where it has none.';
comment on column sync.workers.waiting is 'What it waited for at its last heartbeat: kind (throttled, rate_limit, away, overtaken, queue, paused or idle), since, until, givesUpAt and a sentence; null where it worked. It says nothing once the worker is taken for dead.';
comment on column sync.workers.settings is 'Settings that must be equal in all workers, by their names, as at its start; none is a secret. Null for a process that runs one run only.';
comment on column sync.workers.application_name is 'What pg_stat_activity shows for its sessions; null where DATABASE_URL sets another name.';
