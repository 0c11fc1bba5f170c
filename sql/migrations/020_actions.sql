-- Up Migration
-- Who did what: each action of a user or program adds a row, in the transaction that makes its change. Runs by schedule,
-- continuous refresh and hints are not listed.
create table sync.actions (
  action_id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  by text not null,
  action text not null check (action in ('run_requested', 'run_cancelled', 'held_accepted', 'held_refused', 'import_accepted',
    'import_refused', 'catalog_changed', 'records_set_aside', 'records_restored', 'schedule_set', 'schedule_removed', 'token_added',
    'token_removed', 'person_erased')),
  run_id uuid, -- no reference: the run may be pruned
  target text,
  reason text
);
create index actions_of_run on sync.actions (run_id, action_id) where run_id is not null;
create index schedule_actions on sync.actions (at) where action in ('schedule_set', 'schedule_removed');
comment on table sync.actions is 'What users and programs did: one row for each action, written in the transaction that makes its change. An action that changes nothing has no row. Prune deletes old rows, except those of runs that are kept and of the current schedule.';
comment on column sync.actions.action_id is 'Our id of the row.';
comment on column sync.actions.at is 'When it was done: the begin of its transaction.';
comment on column sync.actions.by is 'Who did it: the name of the access token, HTTP_TOKEN, or this machine (a request to serve without HTTP_TOKEN); the user of the machine for a command or a program; says: NAME where a program gave that name, which nothing proves, and a program where a job gave none.';
comment on column sync.actions.action is 'What was done.';
comment on column sync.actions.run_id is 'The run that was requested or cancelled, or whose held listings or rejected records were decided; null for other actions.';
comment on column sync.actions.target is 'What it was done to, in words: a listing, an import, records, a schedule, a token. Of an erasure its number: the person is not named.';
comment on column sync.actions.reason is 'Why, where a reason was given.';
comment on index sync.actions_of_run is 'Finds the actions on a run.';
comment on index sync.schedule_actions is 'Finds who set the schedule.';
