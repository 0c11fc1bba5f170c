-- Up Migration
-- Where the time of a run went. Calls and statements overlap, so the sums may be many times as long as the run.

alter table sync.run_items
  add column service_ms integer not null default 0,
  add column waited_ms integer not null default 0,
  add column database_ms integer not null default 0,
  add column cpu_ms integer not null default 0;
comment on column sync.run_items.service_ms is 'As in runs.';
comment on column sync.run_items.waited_ms is 'As in runs.';
comment on column sync.run_items.database_ms is 'As in runs.';
comment on column sync.run_items.cpu_ms is 'As in runs; of what the worker did since the commit before, of whichever item.';

alter table sync.runs
  add column service_ms bigint not null default 0,
  add column waited_ms bigint not null default 0,
  add column database_ms bigint not null default 0,
  add column cpu_ms bigint not null default 0;
comment on column sync.runs.service_ms is 'Milliseconds that calls waited for the service''s answers, summed over calls that ran side by side.';
comment on column sync.runs.waited_ms is 'Milliseconds that calls with a place among those in flight waited for their turn under SYNC_RATE_LIMIT or for a pause to end; summed likewise.';
comment on column sync.runs.database_ms is 'Milliseconds that batches waited for PostgreSQL: reading what is stored, writing what changed; summed likewise.';
comment on column sync.runs.cpu_ms is 'Milliseconds of CPU of the processes that worked the run, while they did.';
