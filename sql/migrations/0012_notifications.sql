-- Up Migration
-- What people were told of by NOTIFY_URL, so that nobody is told twice, whatever number of workers looks.

create table sync.notify_watch (
  only_row boolean primary key default true check (only_row),
  looked_at timestamptz,
  watching_since timestamptz,
  schedule_since timestamptz,
  schedule text
);
insert into sync.notify_watch default values;
comment on table sync.notify_watch is 'Whose turn it is to look for something to tell: a worker holds the one row while it looks.';
comment on column sync.notify_watch.only_row is 'There is just one row.';
comment on column sync.notify_watch.looked_at is 'When a worker last looked, so that many workers do not look more often than one.';
comment on column sync.notify_watch.watching_since is 'When a worker with NOTIFY_URL looked for the first time: runs that ended before are not told.';
comment on column sync.notify_watch.schedule_since is 'Since when workers know the nightly schedule as it is now: nights before it were not missed.';
comment on column sync.notify_watch.schedule is 'The nightly schedule as workers last knew it: cron expression and time zone; empty where there is none.';

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

alter table sync.held add column told_at timestamptz;
comment on column sync.held.told_at is 'When it was noted for the receivers of NOTIFY_URL; null where nobody is to be told, or not yet.';
