-- Up Migration
-- What the processes of an installation share: the nightly schedule, the rate of calls, tokens of `serve`, and what people
-- were notified of.
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

create table sync.nightly_due (
  due_at timestamptz primary key
);
comment on table sync.nightly_due is 'When the nightly run was due and will be due. Workers and the command schedule store the next 31 times in advance, so that missed runs are known even if no worker is alive. Future times are deleted when the schedule is changed or removed. Prune deletes times with the runs that were started for them.';
comment on column sync.nightly_due.due_at is 'The time, by the schedule that was in force.';

create unlogged table sync.pace (
  name text primary key,
  next_at timestamptz not null,
  paused_until timestamptz
) with (fillfactor = 50); -- unlogged: losing it in a crash loses a second of pacing, and a call waits for no disk
comment on table sync.pace is 'The agreed rate of calls over all processes, where there is no Redis to keep it.';
comment on column sync.pace.name is 'The service that is paced.';
comment on column sync.pace.next_at is 'When the next call slot is free.';
comment on column sync.pace.paused_until is 'Until when no process may call, because the service said so.';

create table sync.access_tokens (
  token_id bigint generated always as identity primary key,
  created_at timestamptz not null default now(),
  name text not null unique check (name ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'),
  rights text not null check (rights in ('read', 'operate', 'admin')),
  token_hash bytea not null unique check (length(token_hash) = 32),
  created_by text not null default session_user
);
comment on table sync.access_tokens is 'Tokens that people and programs show to `collab-sync serve`, beside HTTP_TOKEN (collab-sync token add). A row that is deleted is a token withdrawn, with the sessions that began with it.';
comment on column sync.access_tokens.token_id is 'Our id of the token; never given twice, so that no session outlives its token.';
comment on column sync.access_tokens.created_at is 'When it was added.';
comment on column sync.access_tokens.name is 'Whose it is, or what for.';
comment on column sync.access_tokens.rights is 'read: everything that only reads, but the queue''s dashboard. operate: also what changes something. admin: everything.';
comment on column sync.access_tokens.token_hash is 'SHA-256 of the token, which itself is kept nowhere. It has 256 random bits, so that no guess is worth a slow hash.';
comment on column sync.access_tokens.created_by is 'The PostgreSQL role that added it.';

-- What people were told of by NOTIFY_URL, so that nobody is told twice, whatever number of workers looks.
create table sync.notify_watch (
  only_row boolean primary key default true check (only_row),
  looked_at timestamptz,
  watching_since timestamptz
);
comment on table sync.notify_watch is 'Whose turn it is to look for something to report: a process holds the one row while it looks.';
comment on column sync.notify_watch.only_row is 'There is just one row.';
comment on column sync.notify_watch.looked_at is 'When a process last looked, so that many do not look more often than one.';
comment on column sync.notify_watch.watching_since is 'When a process with NOTIFY_URL looked for the first time: runs that ended before are not reported.';
insert into sync.notify_watch default values;

create table sync.notifications (
  notification_id uuid primary key default gen_random_uuid(),
  noted_at timestamptz not null default now(),
  missing_since timestamptz,
  well_at timestamptz,
  run_id uuid,
  thing text not null unique,
  kind text not null,
  subject text,
  facts jsonb not null
);
create index notifications_not_well on sync.notifications (subject, noted_at) where well_at is null;
comment on table sync.notifications is 'What people are notified of, one row each: a run that failed or was cancelled, new fields of records, each kind of sync.attention, and that a kind is resolved. Kept for 90 days.';
comment on column sync.notifications.notification_id is 'Identifies the message to its receivers (header webhook-id), so that a repeated one can be dropped.';
comment on column sync.notifications.noted_at is 'When it was noticed.';
comment on column sync.notifications.missing_since is 'When a look did not find it any more; it is resolved where the next look does not find it either.';
comment on column sync.notifications.well_at is 'When it was found resolved; null while it is not, and for what cannot be.';
comment on column sync.notifications.run_id is 'The run it is about, if any; that row may have been pruned since.';
comment on column sync.notifications.thing is 'Names the thing, so that it is told once.';
comment on column sync.notifications.kind is 'What happened, such as scopes.failing: the type in the message.';
comment on column sync.notifications.subject is 'The kind of sync.attention that is to be resolved; null where nothing is.';
comment on column sync.notifications.facts is 'What the message is made from: IDs, counts, times, and of a kind of sync.attention its sentence and words.';

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
comment on table sync.notification_deliveries is 'Each message to each receiver of NOTIFY_URL.';
comment on column sync.notification_deliveries.notification_id is 'The message.';
comment on column sync.notification_deliveries.next_at is 'When to try, or to try again; while a worker tries, when another may.';
comment on column sync.notification_deliveries.sent_at is 'When the receiver took it (answered 2xx).';
comment on column sync.notification_deliveries.given_up_at is 'When it was given up: a day after it was noted, see problem; or, without a problem, since nothing is left that it would tell of.';
comment on column sync.notification_deliveries.attempts is 'How often a worker took it up; each time it tries up to three times.';
comment on column sync.notification_deliveries.receiver is 'Start of the SHA-256 of the receiver''s address, because the address itself is a secret.';
comment on column sync.notification_deliveries.problem is 'Why the last try failed, in a few words; null where it did not.';

-- Each import of the catalog is a row, and one that lacks too much of what there is waits for a person: a file that was cut
-- off looks like a wish to ask for nothing any more.
create table sync.catalog_imports (
  import_id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  source text not null,
  requested_by text not null,
  state text not null check (state in ('applied', 'held', 'accepted', 'refused', 'replaced', 'failed')),
  lines bigint,
  came integer not null default 0,
  went integer not null default 0,
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
comment on table sync.catalog_imports is 'Imports of the catalog: who, when, how many scopes came and went. One that is held has changed nothing.';
comment on column sync.catalog_imports.import_id is 'Internal ID.';
comment on column sync.catalog_imports.at is 'When it was made first (our clock).';
comment on column sync.catalog_imports.last_seen_at is 'When an import last lacked just the same, or failed just the same (our clock).';
comment on column sync.catalog_imports.source is 'The file, CATALOG_SQL, or what named single lines, such as catalog add.';
comment on column sync.catalog_imports.requested_by is 'Who requested it, as in sync.actions; schedule for the nightly run.';
comment on column sync.catalog_imports.state is 'applied: the catalog is as it says. held: it lacks so much that nothing was changed, and a person decides. accepted, refused: somebody decided. replaced: a later import took its place. failed: CATALOG_SQL could not be read.';
comment on column sync.catalog_imports.lines is 'Lines, or rows, that were read; null where that failed.';
comment on column sync.catalog_imports.came is 'Scopes that were added or became active again: organizations, documents, annotations, user groups.';
comment on column sync.catalog_imports.went is 'Scopes that became inactive.';
comment on column sync.catalog_imports.scopes is 'Of a held one: active scopes of the catalog.';
comment on column sync.catalog_imports.lacking is 'Of a held one: how many of them it lacks.';
comment on column sync.catalog_imports.organizations is 'Of a held one: organizations of which it lacks more than a tenth, and more than ten scopes.';
comment on column sync.catalog_imports.first_organization_id is 'The one of them that lacks most.';
comment on column sync.catalog_imports.lacking_digest is 'Tells what it lacks from what another one lacks.';
comment on column sync.catalog_imports.problem is 'Of a failed one: why.';
comment on column sync.catalog_imports.decided_at is 'When somebody accepted or refused it.';
comment on column sync.catalog_imports.decided_by is 'Who did, as in sync.actions.';
comment on column sync.catalog_imports.reason is 'Why.';
comment on column sync.catalog_imports.prunes is 'Whether what its lines do not name became inactive, or is to; null where it was not read, or where single things were added or removed.';

create table sync.catalog_lacking (
  import_id bigint not null references sync.catalog_imports on delete cascade,
  kind text not null check (kind in ('organization', 'document', 'annotation', 'user_group')),
  keys integer[] not null,
  lacking_id bigint generated always as identity primary key -- publications take deletions only of tables with a key
);
create index on sync.catalog_lacking (import_id);
comment on table sync.catalog_lacking is 'What a held import of the catalog lacks, until somebody decides; some thousands a row.';
comment on column sync.catalog_lacking.import_id is 'Of which import.';
comment on column sync.catalog_lacking.kind is 'What kind of scopes.';
comment on column sync.catalog_lacking.keys is 'Our keys of them.';
comment on column sync.catalog_lacking.lacking_id is 'Counts them.';
