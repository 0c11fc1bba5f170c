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
  watching_since timestamptz,
  schedule_since timestamptz,
  schedule text
);
comment on table sync.notify_watch is 'Whose turn it is to look for something to tell: a worker holds the one row while it looks.';
comment on column sync.notify_watch.only_row is 'There is just one row.';
comment on column sync.notify_watch.looked_at is 'When a worker last looked, so that many workers do not look more often than one.';
comment on column sync.notify_watch.watching_since is 'When a worker with NOTIFY_URL looked for the first time: runs that ended before are not told.';
comment on column sync.notify_watch.schedule_since is 'Since when workers know the nightly schedule as it is now: nights before it were not missed.';
comment on column sync.notify_watch.schedule is 'The nightly schedule as workers last knew it: cron expression and time zone; empty where there is none.';

insert into sync.notify_watch default values;

create table sync.notifications (
  notification_id uuid primary key default gen_random_uuid(),
  noted_at timestamptz not null default now(),
  well_at timestamptz,
  run_id uuid,
  thing text not null unique,
  kind text not null,
  subject text,
  facts jsonb not null
);
create index notifications_not_well on sync.notifications (subject, noted_at) where well_at is null;
comment on table sync.notifications is 'Things that people are told, one row each: a run that ended badly, a hold, a nightly run that is missing or late, rows that got old, and that these are well again. Kept for 90 days.';
comment on column sync.notifications.notification_id is 'Identifies the message to its receivers (header webhook-id), so that a repeated one can be dropped.';
comment on column sync.notifications.noted_at is 'When a worker noticed it.';
comment on column sync.notifications.well_at is 'When it was found well again; null while it is not, and for what cannot be.';
comment on column sync.notifications.run_id is 'The run it is about, if any; that row may have been pruned since.';
comment on column sync.notifications.thing is 'Names the thing, so that it is told once.';
comment on column sync.notifications.kind is 'What happened, such as run.partial: the type in the message.';
comment on column sync.notifications.subject is 'What is to become well again: run, held, nightly or freshness; null where nothing is.';
comment on column sync.notifications.facts is 'Ids, counts and times that the message is made from; nothing that a person wrote.';

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
comment on column sync.notification_deliveries.given_up_at is 'When it was given up, a day after it was noted; see problem.';
comment on column sync.notification_deliveries.attempts is 'How often a worker took it up; each time it tries up to three times.';
comment on column sync.notification_deliveries.receiver is 'Start of the SHA-256 of the receiver''s address, because the address itself is a secret.';
comment on column sync.notification_deliveries.problem is 'Why the last try failed, in a few words; null where it did not.';
