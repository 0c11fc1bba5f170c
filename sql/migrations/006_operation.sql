-- State that the processes of an installation share: locks, the nightly schedule, the rate of calls, tokens of `serve`,
-- and notifications.
create table sync.locks (
  name text not null check (name in ('catalog', 'hints', 'refresh', 'users')),
  organization_key integer not null, -- no reference: its check would lock the organization
  primary key (name, organization_key)
);
comment on table sync.locks is 'Locks of collab-sync: a transaction locks a row until it ends. Advisory locks are not used for this, because every role that can connect can hold them.';
comment on column sync.locks.name is 'catalog: change the catalog. hints: create a run for a hint. refresh: plan continuous refresh. users: write users of an organization.';
comment on column sync.locks.organization_key is 'The organization of a lock for users; otherwise 0.';

create table sync.schedule (
  only_row boolean primary key default true check (only_row),
  cron text not null,
  time_zone text not null,
  removed boolean not null,
  set_at timestamptz not null default now()
);
comment on table sync.schedule is 'The nightly schedule that a user set or removed. If there is no row, SYNC_CRON and SYNC_TZ apply.';
comment on column sync.schedule.only_row is 'Ensures that there is at most one row.';
comment on column sync.schedule.cron is 'Cron expression.';
comment on column sync.schedule.time_zone is 'IANA time zone of the cron expression.';
comment on column sync.schedule.removed is 'Whether the schedule was removed. It is kept here, so that it can be restored.';
comment on column sync.schedule.set_at is 'When a user set or removed it.';

create table sync.nightly_due (
  due_at timestamptz primary key
);
comment on table sync.nightly_due is 'Past and future due times of the nightly run. Workers and the command schedule store the next 31 in advance, so that missed runs are detected even if no worker was running. A change of the schedule deletes future times.';
comment on column sync.nightly_due.due_at is 'Due time according to the schedule at that time.';

create unlogged table sync.rate_limit_slots (
  name text primary key,
  next_at timestamptz not null,
  paused_until timestamptz
) with (fillfactor = 50); -- unlogged: a crash loses a second of pacing, and no call waits for the disk
comment on table sync.rate_limit_slots is 'Shared rate of calls of all processes, used without Redis.';
comment on column sync.rate_limit_slots.name is 'The service that is rate-limited.';
comment on column sync.rate_limit_slots.next_at is 'When the next call slot is free.';
comment on column sync.rate_limit_slots.paused_until is 'Until when no process may call, as the service requested.';

create table sync.pace (
  only_row boolean primary key default true check (only_row),
  calls_per_second double precision check (calls_per_second > 0),
  set_at timestamptz not null default now()
);
comment on table sync.pace is 'The pace that a user set: calls per second of all processes together. If there is no row, SYNC_RATE_LIMIT alone applies.';
comment on column sync.pace.only_row is 'Ensures that there is at most one row.';
comment on column sync.pace.calls_per_second is 'Calls per second; the lowest SYNC_RATE_LIMIT applies if it is lower. Null if the pace was removed.';
comment on column sync.pace.set_at is 'When a user set or removed it.';

create table sync.pauses (
  pause_id bigint generated always as identity primary key,
  paused_at timestamptz not null default now(),
  paused_until timestamptz not null check (paused_until >= paused_at),
  paused_by text not null,
  reason text
);
comment on table sync.pauses is 'Pauses of all calls to the service, ordered by users. A pause that is ordered during another one changes its end.';
comment on column sync.pauses.pause_id is 'Internal ID; the newest pause has the highest.';
comment on column sync.pauses.paused_at is 'When it began.';
comment on column sync.pauses.paused_until is 'When it ends, or when a user ended it.';
comment on column sync.pauses.paused_by is 'Who last ordered it, as in sync.actions.';
comment on column sync.pauses.reason is 'Reason that was given; null if none was.';

create view sync.current_pause as
select * from sync.pauses
where paused_until > now()
order by pause_id desc
limit 1;
comment on view sync.current_pause is 'The pause of all calls that lasts; no row without one.';
comment on column sync.current_pause.pause_id is 'As in sync.pauses.';
comment on column sync.current_pause.paused_at is 'As in sync.pauses.';
comment on column sync.current_pause.paused_until is 'As in sync.pauses.';
comment on column sync.current_pause.paused_by is 'As in sync.pauses.';
comment on column sync.current_pause.reason is 'As in sync.pauses.';

create table sync.access_tokens (
  token_id bigint generated always as identity primary key,
  created_at timestamptz not null default now(),
  name text not null unique check (name ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'),
  rights text not null check (rights in ('read', 'operate', 'admin')),
  token_hash bytea not null unique check (length(token_hash) = 32),
  created_by text not null,
  last_used_at timestamptz
);
comment on table sync.access_tokens is 'Access tokens of `collab-sync serve` besides HTTP_TOKEN, created by `collab-sync token add` or on the page Tokens. Deleting a row revokes the token and its sessions.';
comment on column sync.access_tokens.token_id is 'Internal ID; never reused.';
comment on column sync.access_tokens.created_at is 'When it was added.';
comment on column sync.access_tokens.name is 'Its owner or purpose.';
comment on column sync.access_tokens.rights is 'read: read everything except the queue''s dashboard. operate: also change things. admin: everything.';
comment on column sync.access_tokens.token_hash is 'SHA-256 of the token.';
comment on column sync.access_tokens.created_by is 'Who added it, as in sync.actions.';
comment on column sync.access_tokens.last_used_at is 'The hour in which it was last used; null if it never was. Not recorded while PostgreSQL accepts no writes.';

-- Notifications sent to NOTIFY_URL, recorded so that each problem is sent once, however many workers run.
create table sync.notify_watch (
  only_row boolean primary key default true check (only_row),
  checked_at timestamptz,
  watching_since timestamptz
);
comment on table sync.notify_watch is 'Lock for the check for new notifications: a process locks the only row during the check.';
comment on column sync.notify_watch.only_row is 'Ensures that there is one row.';
comment on column sync.notify_watch.checked_at is 'When a process last checked.';
comment on column sync.notify_watch.watching_since is 'When a process with NOTIFY_URL first checked. Runs that finished earlier are not reported.';
insert into sync.notify_watch default values;

create table sync.notifications (
  notification_id uuid primary key default gen_random_uuid(),
  noted_at timestamptz not null default now(),
  missing_since timestamptz,
  resolved_at timestamptz,
  run_id uuid,
  thing text not null unique,
  kind text not null,
  subject text,
  facts jsonb not null
);
create index notifications_open on sync.notifications (subject, noted_at) where resolved_at is null;
comment on table sync.notifications is 'Notifications, kept for 90 days: finished, failed and cancelled runs, changed record fields, each kind of sync.attention, and its resolution.';
comment on column sync.notifications.notification_id is 'ID of the message (header webhook-id).';
comment on column sync.notifications.noted_at is 'When it was created.';
comment on column sync.notifications.missing_since is 'When a check first no longer found the problem; the next check confirms that it is resolved.';
comment on column sync.notifications.resolved_at is 'When it was resolved; null until then, and for what cannot be resolved.';
comment on column sync.notifications.run_id is 'The run concerned; null if none. It may have been pruned.';
comment on column sync.notifications.thing is 'Identifies the subject, so that it is sent once.';
comment on column sync.notifications.kind is 'Type of the message, such as scopes.failing.';
comment on column sync.notifications.subject is 'The kind of sync.attention that has to be resolved; null if none.';
comment on column sync.notifications.facts is 'Data of the message: IDs, counts, times; for sync.attention its sentence and words.';

create table sync.notification_deliveries (
  notification_id uuid not null references sync.notifications on delete cascade,
  next_at timestamptz not null default now(),
  sent_at timestamptz,
  given_up_at timestamptz,
  attempts integer not null default 0,
  receiver text not null,
  problem text,
  primary key (notification_id, receiver)
);
create index notification_deliveries_due on sync.notification_deliveries (receiver, next_at)
  where sent_at is null and given_up_at is null;
comment on table sync.notification_deliveries is 'Delivery of each message to each receiver of NOTIFY_URL.';
comment on column sync.notification_deliveries.notification_id is 'The message to deliver.';
comment on column sync.notification_deliveries.next_at is 'When to try next; during an attempt, when another worker may.';
comment on column sync.notification_deliveries.sent_at is 'When the receiver accepted it (status 2xx); null until then.';
comment on column sync.notification_deliveries.given_up_at is 'When delivery ended without success: a day after creation, or because the message became obsolete. Null until then.';
comment on column sync.notification_deliveries.attempts is 'Number of times a worker claimed it. Each claim makes up to three attempts, and one to a heartbeat.';
comment on column sync.notification_deliveries.receiver is 'Prefix of the SHA-256 of the receiver''s address, because the address is a secret.';
comment on column sync.notification_deliveries.problem is 'Why the last attempt failed; null if it did not.';

create table sync.notification_receivers (
  receiver text not null,
  event text not null,
  first_seen_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  primary key (receiver, event)
);
comment on table sync.notification_receivers is 'The types of messages that each receiver of NOTIFY_URL gets.';
comment on column sync.notification_receivers.receiver is 'As in sync.notification_deliveries.';
comment on column sync.notification_receivers.event is 'Type of the message, such as run.finished. A heartbeat gets night.ended.';
comment on column sync.notification_receivers.first_seen_at is 'When a process first had the receiver with the type. Runs that finished earlier are not sent as run.finished or night.ended.';
comment on column sync.notification_receivers.last_seen_at is 'When a process last had it, to an hour. If it was more than a day ago, first_seen_at is set again.';

-- Each import of the catalog has a row. An import that would remove too much waits for approval, because a truncated
-- file looks like a request to remove everything else.
create table sync.catalog_imports (
  import_id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  source text not null,
  requested_by text not null,
  state text not null check (state in ('applied', 'held', 'accepted', 'refused', 'replaced', 'failed')),
  lines bigint,
  added integer not null default 0,
  removed integer not null default 0,
  scopes integer,
  lacking integer,
  organizations integer,
  first_organization_id text collate "C",
  lacking_digest text,
  problem text,
  decided_at timestamptz,
  decided_by text,
  reason text,
  prunes boolean
);
create unique index catalog_imports_held on sync.catalog_imports (state) where state = 'held';
create index catalog_imports_last_seen on sync.catalog_imports (last_seen_at);
comment on table sync.catalog_imports is 'Imports of the catalog. A held import has changed nothing.';
comment on column sync.catalog_imports.import_id is 'Internal ID.';
comment on column sync.catalog_imports.at is 'When it was first made.';
comment on column sync.catalog_imports.last_seen_at is 'When an import last had the same missing scopes or the same failure.';
comment on column sync.catalog_imports.source is 'The file, CATALOG_SQL, or the command that named single lines, such as catalog add.';
comment on column sync.catalog_imports.requested_by is 'Who requested it, as in sync.actions; schedule for the nightly run.';
comment on column sync.catalog_imports.state is 'applied: the catalog was changed. held: too many scopes are missing, so nothing was changed until an operator decides. accepted, refused: the decision. replaced: superseded by a later import. failed: CATALOG_SQL could not be read.';
comment on column sync.catalog_imports.lines is 'Lines or rows read; null if reading failed.';
comment on column sync.catalog_imports.added is 'Scopes that were added or became active again.';
comment on column sync.catalog_imports.removed is 'Scopes that became inactive.';
comment on column sync.catalog_imports.scopes is 'If held: active scopes of the catalog.';
comment on column sync.catalog_imports.lacking is 'If held: active scopes missing from it.';
comment on column sync.catalog_imports.organizations is 'If held: organizations of which more than ten scopes and more than a tenth are missing.';
comment on column sync.catalog_imports.first_organization_id is 'The one among them with the most missing scopes.';
comment on column sync.catalog_imports.lacking_digest is 'Digest of the missing scopes.';
comment on column sync.catalog_imports.problem is 'If failed: why.';
comment on column sync.catalog_imports.decided_at is 'When an operator accepted or refused it.';
comment on column sync.catalog_imports.decided_by is 'Who decided, as in sync.actions.';
comment on column sync.catalog_imports.reason is 'Reason of the decision; null if none was given.';
comment on column sync.catalog_imports.prunes is 'Whether scopes that its lines do not name become inactive; null if it was not read or changed single scopes.';

create table sync.catalog_lacking (
  import_id bigint not null references sync.catalog_imports on delete cascade,
  kind text not null check (kind in ('organization', 'document', 'annotation', 'group')),
  keys integer[] not null,
  lacking_id bigint generated always as identity primary key -- publications replicate deletions only of tables with a key
);
create index on sync.catalog_lacking (import_id);
comment on table sync.catalog_lacking is 'Missing scopes of held catalog imports, until an operator decides; thousands per row.';
comment on column sync.catalog_lacking.import_id is 'The held import.';
comment on column sync.catalog_lacking.kind is 'Kind of the scopes.';
comment on column sync.catalog_lacking.keys is 'Internal keys of the scopes.';
comment on column sync.catalog_lacking.lacking_id is 'Internal number.';
