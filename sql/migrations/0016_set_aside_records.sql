-- Up Migration
-- Which rejections lost a whole record: a run over them is partial. What a person has looked at and set aside for good is
-- known again by its digest, so that it makes no later night partial.

alter table sync.rejected_records
  add column is_whole boolean,
  add column digest bytea;
comment on column sync.rejected_records.is_whole is 'True where nothing of the record is stored; false where the rest of it is, or an equal record. Null where it was rejected by a program of before: sync.unstored_records tells it by the reason.';
comment on column sync.rejected_records.digest is 'Digest of the operation, the four ids and the content of the record, whatever the order of its members: by it a person sets the record aside. Null where it was rejected before this column was there, or its text is not known.';

create table sync.set_aside_records (
  digest bytea primary key,
  set_aside_at timestamptz not null default now(),
  operation text not null,
  organization_id text,
  document_id text,
  annotation_id text,
  organization_user_group_id text,
  set_aside_by text not null,
  reason text not null
);
comment on table sync.set_aside_records is 'Rejected records that a person has looked at and set aside for good: the same content at the same place makes no later run partial. It holds nothing of a record but its digest.';
comment on column sync.set_aside_records.digest is 'As sync.rejected_records.digest.';
comment on column sync.set_aside_records.set_aside_at is 'When it was set aside.';
comment on column sync.set_aside_records.operation is 'users or comments.';
comment on column sync.set_aside_records.organization_id is 'The organization asked for.';
comment on column sync.set_aside_records.document_id is 'The document asked for, if any.';
comment on column sync.set_aside_records.annotation_id is 'The annotation asked for, if any.';
comment on column sync.set_aside_records.organization_user_group_id is 'The user group asked for, if any.';
comment on column sync.set_aside_records.set_aside_by is 'Who did it: the user of the machine, or http for a program.';
comment on column sync.set_aside_records.reason is 'Why, in the words of whoever did it.';

create view sync.unstored_records as
select r.rejected_record_id, r.run_id, r.at, r.operation, r.organization_id, r.document_id, r.annotation_id,
  r.organization_user_group_id, r.reason, r.record,
  coalesce(r.is_whole,
    r.reason !~ '(was set to null|left out of raw|a person appeared in it|is in the answer twice)$') as is_whole,
  r.digest,
  s.set_aside_at, s.set_aside_by, s.reason as set_aside_reason
from sync.rejected_records r
left join sync.set_aside_records s using (digest)
where r.replayed_at is null;
comment on view sync.unstored_records is 'Rejected records that no replay has stored since, and whether a person set them aside. What is not set aside is open: a run in which a whole record was left open is partial.';
comment on column sync.unstored_records.rejected_record_id is 'As in sync.rejected_records.';
comment on column sync.unstored_records.run_id is 'The run that received it.';
comment on column sync.unstored_records.at is 'When it was received.';
comment on column sync.unstored_records.operation is 'users or comments.';
comment on column sync.unstored_records.organization_id is 'The organization asked for.';
comment on column sync.unstored_records.document_id is 'The document asked for, if any.';
comment on column sync.unstored_records.annotation_id is 'The annotation asked for, if any.';
comment on column sync.unstored_records.organization_user_group_id is 'The user group asked for, if any.';
comment on column sync.unstored_records.reason is 'What is wrong with it.';
comment on column sync.unstored_records.record is 'The record''s JSON text, as received.';
comment on column sync.unstored_records.is_whole is 'True where nothing of the record is stored.';
comment on column sync.unstored_records.digest is 'By it the record is known again.';
comment on column sync.unstored_records.set_aside_at is 'When a person set it aside; null while it is open.';
comment on column sync.unstored_records.set_aside_by is 'Who set it aside.';
comment on column sync.unstored_records.set_aside_reason is 'Why it was set aside.';

comment on column sync.runs.status is 'queued, running, then one of: succeeded (everything is in), partial (some scopes failed or are held, or whole records were rejected; everything else is in), failed (see problem), cancelled.';
comment on column sync.runs.records_rejected is 'Records of which no row was made: those that could not be stored, and second ones of two equal ones. Each has a row in sync.rejected_records.';
comment on column sync.run_items.records_rejected is 'As in sync.runs.';
