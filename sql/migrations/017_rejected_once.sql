-- Up Migration
-- A rejected record is one row, known again by its scope and content, whatever run meets it; what a run lost is in its own
-- counts. Rows of before are found again by the next run, since a scope that rejected anything keeps no digest.
delete from sync.rejected_records;
alter table sync.rejected_records
  drop constraint rejected_records_run_id_fkey,
  alter column digest set not null,
  add column first_seen_at timestamptz not null default now(),
  add column last_seen_at timestamptz not null generated always as (at) stored,
  add column times bigint not null default 1,
  add column gone_at timestamptz;
create unique index one_row_a_rejected_record on sync.rejected_records (digest, md5(reason));
create index rejected_records_in_place on sync.rejected_records (organization_id, operation) where gone_at is null;
comment on column sync.rejected_records.run_id is 'The run that last saw it. It may be pruned before.';
comment on column sync.rejected_records.at is 'When it was last received.';
comment on column sync.rejected_records.digest is 'Digest of the operation, the four ids and the content of the record, whatever the order of its members: by it the record is known again, and a person sets it aside. Of the reason in place of the content where its text is not known.';
comment on column sync.rejected_records.first_seen_at is 'When it was first received.';
comment on column sync.rejected_records.last_seen_at is 'When it was last received; by continuous refresh at most once an hour.';
comment on column sync.rejected_records.times is 'How often that was noted.';
comment on column sync.rejected_records.gone_at is 'When its scope first answered whole without it: it was mended and stored, or deleted. Null while it is there.';
comment on index sync.one_row_a_rejected_record is 'The same record is one row for each reason.';
comment on index sync.rejected_records_in_place is 'Rejected records that are there, by organization.';

create or replace view sync.unstored_records as
select r.rejected_record_id, r.run_id, r.at, r.operation, r.organization_id, r.document_id, r.annotation_id,
  r.organization_user_group_id, r.reason, r.record, r.is_whole, r.digest,
  s.set_aside_at, s.set_aside_by, s.reason as set_aside_reason,
  r.first_seen_at, r.last_seen_at, r.times, r.gone_at,
  r.gone_at is null and s.digest is null as is_open
from sync.rejected_records r
left join sync.set_aside_records s using (digest);
comment on view sync.unstored_records is 'Rejected records, whether they are there still, and whether a person set them aside. What is open needs a person: a run that meets a whole record that is not set aside is partial.';
comment on column sync.unstored_records.run_id is 'The run that last saw it.';
comment on column sync.unstored_records.at is 'When it was last received.';
comment on column sync.unstored_records.first_seen_at is 'When it was first received.';
comment on column sync.unstored_records.last_seen_at is 'When it was last received.';
comment on column sync.unstored_records.times is 'How often that was noted.';
comment on column sync.unstored_records.gone_at is 'When its scope first answered whole without it; null while it is there.';
comment on column sync.unstored_records.is_open is 'True while it is there and nobody has set it aside: it needs a person.';

alter table sync.run_items add column records_lost bigint not null default 0;
alter table sync.runs add column records_lost bigint not null default 0;
comment on column sync.run_items.records_lost is 'Whole records that were rejected and not set aside.';
comment on column sync.runs.records_lost is 'Whole records that were rejected and not set aside when the run met them: with one of them it is partial.';
comment on column sync.run_items.rejected is 'Whole records that were rejected, and members that a stored record had to go without.';
comment on column sync.runs.rejected is 'Whole records that were rejected, and members that a stored record had to go without.';
