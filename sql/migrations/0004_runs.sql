-- Up Migration
-- What the worker did. PostgreSQL knows the life of every run; the queue only delivers.

create schema sync;
comment on schema sync is 'What the worker did: runs, their items, failures and rejected records.';

create sequence sync.claim_no;
comment on sequence sync.claim_no is 'Orders claims of work by begin, whatever the machines'' clocks say.';

create table sync.runs (
  run_id uuid primary key default gen_random_uuid(),
  trigger text not null check (trigger in ('schedule', 'cli', 'http', 'api')),
  status text not null default 'queued'
    check (status in ('queued', 'running', 'succeeded', 'partial', 'failed', 'cancelled')),
  scope jsonb not null default '{}',
  requested_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz,
  stopping text check (stopping in ('failed', 'cancelled')),
  problem text,
  request_key text unique,
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
  comments_written bigint not null default 0,
  comments_deleted bigint not null default 0,
  rejected bigint not null default 0,
  failures bigint generated always as (scopes_failed) stored,
  constraint settled_runs_have_a_time check ((finished_at is not null) = (status in ('succeeded', 'partial', 'failed', 'cancelled'))),
  constraint settled_scopes_add_up check (finished_at is null
    or scopes_planned = scopes_succeeded + scopes_failed + scopes_held + scopes_skipped),
  constraint settled_records_add_up check (finished_at is null
    or records_received = records_inserted + records_updated + records_unchanged + records_rejected + records_null),
  constraint succeeded_means_all check (status <> 'succeeded'
    or (scopes_planned = scopes_succeeded and problem is null))
);
create index on sync.runs (requested_at desc, run_id desc);
create unique index one_scheduled_run_at_a_time on sync.runs (trigger)
  where trigger = 'schedule' and status in ('queued', 'running');
comment on table sync.runs is 'One row a run. Its counts are written once, when it is settled; until then they are in run_items.';
comment on column sync.runs.run_id is 'Our id of the run.';
comment on column sync.runs.trigger is 'Who asked: schedule (nightly), cli, http, or api (a program, through the queue).';
comment on column sync.runs.status is 'queued, running, then one of: succeeded (everything is in), partial (some scopes failed or are held, everything else is in), failed (see problem), cancelled.';
comment on column sync.runs.scope is 'What the run was narrowed to; an empty object means the whole catalog.';
comment on column sync.runs.requested_at is 'When it was asked for.';
comment on column sync.runs.started_at is 'When a worker first worked on it.';
comment on column sync.runs.finished_at is 'When it was settled; null until then.';
comment on column sync.runs.stopping is 'Set when the run is to end early: no further call is made for it.';
comment on column sync.runs.problem is 'One sentence for a person, where the run did not simply succeed.';
comment on column sync.runs.request_key is 'Names the request that made it, so that a request delivered twice makes one run.';
comment on column sync.runs.scopes_expected is 'Scopes the catalog held for it when it began: the denominator of its progress.';
comment on column sync.runs.calls is 'Calls made to the service, further tries included.';
comment on column sync.runs.retries is 'Of the calls, those that tried again.';
comment on column sync.runs.scopes_planned is 'Scopes this work consists of.';
comment on column sync.runs.scopes_succeeded is 'Scopes whose answer is stored.';
comment on column sync.runs.scopes_failed is 'Scopes that gave no usable answer; each has a row in sync.failures.';
comment on column sync.runs.scopes_held is 'Scopes whose additions are stored but whose removals wait for a person: see sync.held.';
comment on column sync.runs.scopes_skipped is 'Scopes that were not asked, because the run was stopped or cancelled.';
comment on column sync.runs.records_received is 'Records in the stored answers, with the nulls.';
comment on column sync.runs.records_inserted is 'Records that made a new row.';
comment on column sync.runs.records_updated is 'Records that changed a row.';
comment on column sync.runs.records_unchanged is 'Records that changed nothing.';
comment on column sync.runs.records_rejected is 'Records that could not be stored; each has a row in sync.rejected_records.';
comment on column sync.runs.records_null is 'Nulls in answers to a question by id.';
comment on column sync.runs.organizations_done is 'Organizations whose own listing of users was stored.';
comment on column sync.runs.documents_done is 'Documents whose own listing of users was stored.';
comment on column sync.runs.groups_done is 'User groups whose listing was stored.';
comment on column sync.runs.annotations_done is 'Annotations whose comments were stored.';
comment on column sync.runs.users_written is 'Rows of collab.users that were inserted or updated.';
comment on column sync.runs.comments_written is 'Rows of collab.comments that were inserted or updated, without deletions.';
comment on column sync.runs.comments_deleted is 'Comments whose deletion the service confirmed.';
comment on column sync.runs.rejected is 'Rows made in sync.rejected_records: whole records, and members that a stored record had to go without.';
comment on column sync.runs.failures is 'The same as scopes_failed.';

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
  kind text not null check (kind in ('page-organizations', 'page-documents', 'sync-batch')),
  state text not null default 'pending' check (state in ('pending', 'done')),
  worker_id text,
  only_scopes bit varying,
  done_scopes bit varying,
  primary key (run_id, item_id)
) with (fillfactor = 70);
create index pending_items on sync.run_items (run_id, item_id) where state = 'pending';
comment on table sync.run_items is 'The pieces of a run, each delivered by one job of the queue. An item is done in the transaction that has its effect, which also inserts the items that follow it: a run is over when none is pending.';
comment on column sync.run_items.item_id is 'Our id of the item; the job''s data is this and run_id.';
comment on column sync.run_items.run_id is 'The run it belongs to.';
comment on column sync.run_items.organization_key is 'page-documents: the organization to page.';
comment on column sync.run_items.batch_key is 'sync-batch: the batch whose scopes to ask for.';
comment on column sync.run_items.after_key is 'Paging items: the cursor, the last key of the page before.';
comment on column sync.run_items.round is 'How many pages of its organization came before; the queue serves low rounds first, so that a huge organization does not hold up small ones.';
comment on column sync.run_items.attempts is 'How often a worker took it up since something of it was last committed.';
comment on column sync.run_items.claimed_at is 'When a worker first took it up: its answers are not older.';
comment on column sync.run_items.finished_at is 'When it was done.';
comment on column sync.run_items.kind is 'What to do; names the job.';
comment on column sync.run_items.state is 'pending or done.';
comment on column sync.run_items.worker_id is 'The worker that last took it up.';
comment on column sync.run_items.only_scopes is 'Bit n is 1 where scope n of the batch is wanted; null means all.';
comment on column sync.run_items.done_scopes is 'Bit n is 1 where scope n of the batch is committed already; null means none.';
comment on column sync.run_items.calls is 'Calls made to the service, further tries included.';
comment on column sync.run_items.retries is 'Of the calls, those that tried again.';
comment on column sync.run_items.scopes_planned is 'Scopes this work consists of.';
comment on column sync.run_items.scopes_succeeded is 'Scopes whose answer is stored.';
comment on column sync.run_items.scopes_failed is 'Scopes that gave no usable answer; each has a row in sync.failures.';
comment on column sync.run_items.scopes_held is 'Scopes whose additions are stored but whose removals wait for a person: see sync.held.';
comment on column sync.run_items.scopes_skipped is 'Scopes that were not asked, because the run was stopped or cancelled.';
comment on column sync.run_items.records_received is 'Records in the stored answers, with the nulls.';
comment on column sync.run_items.records_inserted is 'Records that made a new row.';
comment on column sync.run_items.records_updated is 'Records that changed a row.';
comment on column sync.run_items.records_unchanged is 'Records that changed nothing.';
comment on column sync.run_items.records_rejected is 'Records that could not be stored; each has a row in sync.rejected_records.';
comment on column sync.run_items.records_null is 'Nulls in answers to a question by id.';
comment on column sync.run_items.organizations_done is 'Organizations whose own listing of users was stored.';
comment on column sync.run_items.documents_done is 'Documents whose own listing of users was stored.';
comment on column sync.run_items.groups_done is 'User groups whose listing was stored.';
comment on column sync.run_items.annotations_done is 'Annotations whose comments were stored.';
comment on column sync.run_items.users_written is 'Rows of collab.users that were inserted or updated.';
comment on column sync.run_items.comments_written is 'Rows of collab.comments that were inserted or updated, without deletions.';
comment on column sync.run_items.comments_deleted is 'Comments whose deletion the service confirmed.';
comment on column sync.run_items.rejected is 'Rows made in sync.rejected_records: whole records, and members that a stored record had to go without.';

create table sync.workers (
  worker_id text primary key,
  started_at timestamptz not null,
  heartbeat_at timestamptz not null,
  calls_in_flight integer not null,
  calls_limit integer not null,
  latency_ms integer
) with (fillfactor = 50);
comment on table sync.workers is 'Processes that work, or worked lately. One without a heartbeat for 30 seconds is taken for dead.';
comment on column sync.workers.worker_id is 'host:pid:random.';
comment on column sync.workers.started_at is 'When it started.';
comment on column sync.workers.heartbeat_at is 'When it last said it lives.';
comment on column sync.workers.calls_in_flight is 'Calls to the service it had in flight then.';
comment on column sync.workers.calls_limit is 'Most calls in flight that it had learned the service keeps up with.';
comment on column sync.workers.latency_ms is 'Mean time of its recent calls, in milliseconds.';

create table sync.failures (
  failure_id bigint generated always as identity primary key,
  run_id uuid not null references sync.runs on delete cascade,
  at timestamptz not null default now(),
  batch_key integer,
  http_status integer,
  attempts integer not null,
  scope_no smallint,
  operation text not null,
  organization_id text,
  document_id text,
  annotation_id text,
  organization_user_group_id text,
  error_status text,
  error_message text
);
create index on sync.failures (run_id, failure_id);
comment on table sync.failures is 'Scopes that gave no usable answer, one row each and run.';
comment on column sync.failures.failure_id is 'Our id of the row.';
comment on column sync.failures.run_id is 'The run.';
comment on column sync.failures.at is 'When the worker gave the scope up.';
comment on column sync.failures.batch_key is 'Where the scope lies, so that it can be tried again by itself.';
comment on column sync.failures.http_status is 'HTTP status of the last answer; null where there was none.';
comment on column sync.failures.attempts is 'Calls made for it.';
comment on column sync.failures.scope_no is 'Its place in the batch.';
comment on column sync.failures.operation is 'users or comments.';
comment on column sync.failures.organization_id is 'The organization asked for.';
comment on column sync.failures.document_id is 'The document asked for, if any.';
comment on column sync.failures.annotation_id is 'The annotation asked for, if any.';
comment on column sync.failures.organization_user_group_id is 'The user group asked for, if any.';
comment on column sync.failures.error_status is 'error.status of the answer, or our own word in lower case such as timeout.';
comment on column sync.failures.error_message is 'error.message of the answer or of the network, shortened; never a credential.';

create table sync.rejected_records (
  rejected_record_id bigint generated always as identity primary key,
  run_id uuid not null references sync.runs on delete cascade,
  at timestamptz not null default now(),
  replayed_at timestamptz,
  operation text not null,
  organization_id text,
  document_id text,
  annotation_id text,
  organization_user_group_id text,
  reason text not null,
  record text not null
);
create index on sync.rejected_records (run_id, rejected_record_id);
comment on table sync.rejected_records is 'Records, or members of records, that PostgreSQL or our types cannot hold, as received.';
comment on column sync.rejected_records.rejected_record_id is 'Our id of the row.';
comment on column sync.rejected_records.run_id is 'The run that received it.';
comment on column sync.rejected_records.at is 'When it was received.';
comment on column sync.rejected_records.replayed_at is 'When the command replay stored it after all; null while it is not stored.';
comment on column sync.rejected_records.operation is 'users or comments.';
comment on column sync.rejected_records.organization_id is 'The organization asked for.';
comment on column sync.rejected_records.document_id is 'The document asked for, if any.';
comment on column sync.rejected_records.annotation_id is 'The annotation asked for, if any.';
comment on column sync.rejected_records.organization_user_group_id is 'The user group asked for, if any.';
comment on column sync.rejected_records.reason is 'What is wrong with it, naming the member, and which column was set to null if the rest of it was stored.';
comment on column sync.rejected_records.record is 'The record''s JSON text, as received.';

create table sync.observed_errors (
  times bigint not null default 1,
  first_seen_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  http_status integer not null,
  operation text not null,
  error_status text not null,
  sample text not null,
  primary key (operation, http_status, error_status)
);
comment on table sync.observed_errors is 'Failures whose meaning is not known: the service documents neither its error codes nor its HTTP statuses.';
comment on column sync.observed_errors.times is 'Scopes that failed with it.';
comment on column sync.observed_errors.first_seen_at is 'When it was first seen.';
comment on column sync.observed_errors.last_seen_at is 'When it was last seen.';
comment on column sync.observed_errors.http_status is 'HTTP status of the answer.';
comment on column sync.observed_errors.operation is 'users or comments.';
comment on column sync.observed_errors.error_status is 'error.status of the answer; empty where it had none.';
comment on column sync.observed_errors.sample is 'One message that came with it, shortened, credentials removed.';

create table sync.held (
  held_id bigint generated always as identity primary key,
  run_id uuid not null references sync.runs on delete cascade,
  at timestamptz not null default now(),
  resolved_at timestamptz,
  batch_key integer not null,
  scope_key integer not null,
  users_before integer not null,
  repeats smallint not null default 0,
  kind text not null check (kind in ('organization', 'document', 'group')),
  resolution text check (resolution in ('accepted', 'repeated', 'recovered')),
  content_digest bytea not null,
  organization_id text not null,
  document_id text,
  organization_user_group_id text,
  missing_user_ids text[] not null
);
create unique index one_open_hold_a_listing on sync.held (kind, scope_key) where resolved_at is null;
create index on sync.held (run_id);
comment on table sync.held is 'Listings that suddenly lacked so many of their users that nobody was removed: a person decides, or the same answer in two later scheduled runs.';
comment on column sync.held.held_id is 'Our id of the row.';
comment on column sync.held.run_id is 'The run that last saw this answer.';
comment on column sync.held.at is 'When the answer was first seen.';
comment on column sync.held.resolved_at is 'When it was applied or withdrawn; null while it waits.';
comment on column sync.held.batch_key is 'Where the listing''s scope lies.';
comment on column sync.held.scope_key is 'Our key of the organization, document or user group.';
comment on column sync.held.users_before is 'Users the listing held before.';
comment on column sync.held.repeats is 'Later scheduled runs in which the same answer came again.';
comment on column sync.held.kind is 'Whose listing: organization, document or group.';
comment on column sync.held.resolution is 'accepted (a person), repeated (the same answer twice more), or recovered (a later answer did not lack them).';
comment on column sync.held.content_digest is 'Digest of the answer, to know it again.';
comment on column sync.held.organization_id is 'The organization asked for.';
comment on column sync.held.document_id is 'The document asked for, if any.';
comment on column sync.held.organization_user_group_id is 'The user group asked for, if any.';
comment on column sync.held.missing_user_ids is 'The users whom the answer lacked and who were kept.';

create table sync.schedule (
  only_row boolean primary key default true check (only_row),
  cron text,
  time_zone text,
  set_at timestamptz not null default now()
);
comment on table sync.schedule is 'The nightly schedule as a person set or removed it; without a row the settings SYNC_CRON and SYNC_TZ hold.';
comment on column sync.schedule.only_row is 'There is one row at most.';
comment on column sync.schedule.cron is 'When to start, as a cron expression; null where the schedule was removed.';
comment on column sync.schedule.time_zone is 'IANA name of the time zone the expression is in.';
comment on column sync.schedule.set_at is 'When it was set or removed.';

create unlogged table sync.pace (
  name text primary key,
  next_at timestamptz not null,
  paused_until timestamptz
) with (fillfactor = 50); -- unlogged: losing it in a crash loses a second of pacing, and a call waits for no disk
comment on table sync.pace is 'The agreed rate of calls over all processes, where there is no Redis to keep it.';
comment on column sync.pace.name is 'The service that is paced.';
comment on column sync.pace.next_at is 'When the next call slot is free.';
comment on column sync.pace.paused_until is 'Until when no process may call, because the service said so.';
