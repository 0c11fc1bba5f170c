-- Records who did what: each action of a user or program adds a row in the transaction that makes its change. Runs
-- started by the schedule, continuous refresh or hints are not recorded.
create table sync.actions (
  action_id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  by text not null,
  action text not null check (action in ('run_requested', 'run_cancelled', 'held_accepted', 'held_refused', 'import_accepted',
    'import_refused', 'catalog_changed', 'records_set_aside', 'records_restored', 'schedule_set', 'schedule_removed', 'pace_set', 'calls_paused',
    'calls_resumed', 'token_added', 'token_removed', 'person_erased', 'history_pruned')),
  run_id uuid, -- no reference: the run may be pruned
  target text,
  reason text
);
create index actions_of_run on sync.actions (run_id, action_id) where run_id is not null;
create unique index prunes on sync.actions (run_id) include (at) where action = 'history_pruned';
create index schedule_actions on sync.actions (at) where action in ('schedule_set', 'schedule_removed', 'pace_set');
comment on table sync.actions is 'Actions of users and programs. prune deletes old rows, except those of stored runs and of the current schedule and pace.';
comment on column sync.actions.action_id is 'Internal ID.';
comment on column sync.actions.at is 'Start of the transaction of the action.';
comment on column sync.actions.by is 'Name of the access token, HTTP_TOKEN, or this machine (a request to serve without HTTP_TOKEN); operating-system user for a command or program; says: NAME for a name that a program gave without proof; a program if a job gave none.';
comment on column sync.actions.action is 'Kind of action.';
comment on column sync.actions.run_id is 'The run that was requested, cancelled or decided on, or the nightly run after whose start history was deleted; null for other actions.';
comment on column sync.actions.target is 'Target of the action: listing, import, records, schedule, pace, end of a pause or token; of an erasure, its number; of a prune, the time and the number of rows.';
comment on column sync.actions.reason is 'Reason that was given; null if none was.';
comment on index sync.actions_of_run is 'Finds the actions on a run.';
comment on index sync.prunes is 'Permits one automatic prune per nightly run, and finds the last prune.';
comment on index sync.schedule_actions is 'Finds who set the schedule or the pace.';
