-- Up Migration
-- What went wrong: scopes that failed, records that could not be stored, listings that are held.
create table sync.failures (
  failure_id bigint generated always as identity primary key,
  run_id uuid not null references sync.runs on delete cascade,
  at timestamptz not null default now(),
  batch_key integer,
  http_status integer,
  attempts integer not null,
  scope_no smallint,
  operation text not null,
  organization_id text collate "C",
  document_id text collate "C",
  annotation_id text collate "C",
  organization_user_group_id text collate "C",
  error_status text,
  error_message text,
  resolved_at timestamptz,
  resolved_by uuid -- no reference: runs are pruned
);
create index on sync.failures (run_id, failure_id);
create index failures_of_organization on sync.failures (organization_id, failure_id);
create index failures_unresolved on sync.failures (batch_key, scope_no) where resolved_at is null;
-- Without it PostgreSQL may read all failures backward for each organization: 43 s at 260,000 failing scopes, with it 0.18 s.
create index failures_unresolved_of_organization on sync.failures (organization_id, failure_id) where resolved_at is null;
comment on table sync.failures is 'Scopes that gave no usable answer, one row each and run.';
comment on column sync.failures.failure_id is 'Internal ID.';
comment on column sync.failures.run_id is 'The run in which the scope was asked for; its row in sync.runs.';
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
comment on column sync.failures.resolved_at is 'When the scope next returned a usable response, in whichever run; null until then. A response whose removals are held counts too.';
comment on column sync.failures.resolved_by is 'The run that received this response; it may be pruned.';
comment on index sync.failures_of_organization is 'Failures of one organization, the newest first.';
comment on index sync.failures_unresolved is 'Failures that the next usable response of their scope resolves.';
comment on index sync.failures_unresolved_of_organization is 'The newest unresolved failure of an organization.';

-- The state of a failure follows from this view: it is resolved, or its scope is here, or its scope left the catalog. What is
-- beneath an organization that left has left as well.
create view sync.failing_scopes as
select b.batch_key, 0::smallint as scope_no
from collab_store.organizations o
join collab_store.batches b on b.organization_key = o.organization_key and b.operation = 'users' and b.batch_no = 0
where o.active and o.failing_since is not null
union all
select batch_key, scope_no from collab_store.user_groups
where active and own_checked_at is not null and failing_since is not null
union all
select batch_key, scope_no from collab_store.documents
where active and own_checked_at is not null and failing_since is not null
union all
select batch_key, scope_no from collab_store.annotations
where active and own_checked_at is not null and failing_since is not null;
comment on view sync.failing_scopes is 'Scopes of the catalog whose last try failed.';
comment on column sync.failing_scopes.batch_key is 'The batch of the scope.';
comment on column sync.failing_scopes.scope_no is 'Its place in the batch.';

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

-- A rejected record is one row, known again by its scope and content, whatever run meets it.
-- A run over which a whole record was lost is partial. What a person has looked at and set aside for good is known again by
-- its digest, so that it makes no later night partial.
create table sync.rejected_records (
  rejected_record_id bigint generated always as identity primary key,
  run_id uuid not null, -- no reference: the run may be pruned before
  at timestamptz not null default now(),
  operation text not null,
  organization_id text collate "C",
  document_id text collate "C",
  annotation_id text collate "C",
  organization_user_group_id text collate "C",
  reason text not null,
  record text not null,
  is_whole boolean not null,
  digest bytea not null,
  first_seen_at timestamptz not null default now(),
  last_seen_at timestamptz not null generated always as (at) stored,
  times bigint not null default 1,
  gone_at timestamptz
);
create index on sync.rejected_records (run_id, rejected_record_id);
create unique index one_row_a_rejected_record on sync.rejected_records (digest, md5(reason));
create index rejected_records_in_place on sync.rejected_records (organization_id, operation) where gone_at is null;
comment on table sync.rejected_records is 'Records, or members of records, that PostgreSQL or our types cannot hold, as received.';
comment on column sync.rejected_records.rejected_record_id is 'Internal ID.';
comment on column sync.rejected_records.run_id is 'The run that last saw it. It may be pruned before.';
comment on column sync.rejected_records.at is 'When it was last received.';
comment on column sync.rejected_records.operation is 'users or comments.';
comment on column sync.rejected_records.organization_id is 'The organization asked for.';
comment on column sync.rejected_records.document_id is 'The document asked for, if any.';
comment on column sync.rejected_records.annotation_id is 'The annotation asked for, if any.';
comment on column sync.rejected_records.organization_user_group_id is 'The user group asked for, if any.';
comment on column sync.rejected_records.reason is 'What is wrong with it, naming the member, and which column was set to null if the rest of it was stored.';
comment on column sync.rejected_records.record is 'The record''s JSON text, as received.';
comment on column sync.rejected_records.is_whole is 'True where nothing of the record is stored; false where the rest of it is, or an equal record.';
comment on column sync.rejected_records.digest is 'Digest of the operation, the four ids and the content of the record, whatever the order of its members: by it the record is known again, and a person sets it aside. Of the reason in place of the content where its text is not known.';
comment on column sync.rejected_records.first_seen_at is 'When it was first received.';
comment on column sync.rejected_records.last_seen_at is 'When it was last received; by continuous refresh at most once an hour.';
comment on column sync.rejected_records.times is 'How often that was noted.';
comment on column sync.rejected_records.gone_at is 'When its scope first answered whole without it: it was mended and stored, or deleted. Null while it is there.';
comment on index sync.one_row_a_rejected_record is 'The same record is one row for each reason.';
comment on index sync.rejected_records_in_place is 'Rejected records that are there, by organization.';

create table sync.set_aside_records (
  digest bytea primary key,
  set_aside_at timestamptz not null default now(),
  operation text not null,
  organization_id text collate "C",
  document_id text collate "C",
  annotation_id text collate "C",
  organization_user_group_id text collate "C",
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
comment on column sync.set_aside_records.set_aside_by is 'Who did it, as in sync.actions.';
comment on column sync.set_aside_records.reason is 'Why, in the words of whoever did it.';

-- Rejected records of scopes that left the catalog are not open.
create view sync.unstored_records as
select r.rejected_record_id, r.run_id, r.at, r.operation, r.organization_id, r.document_id, r.annotation_id,
  r.organization_user_group_id, r.reason, r.record, r.is_whole, r.digest,
  s.set_aside_at, s.set_aside_by, s.reason as set_aside_reason,
  r.first_seen_at, r.last_seen_at, r.times, r.gone_at,
  r.gone_at is null and s.digest is null and exists (
    select from collab_store.organizations o
    where o.organization_id = r.organization_id and o.active
      and (r.organization_user_group_id is null or exists (
        select from collab_store.user_groups g
        where g.organization_key = o.organization_key and g.organization_user_group_id = r.organization_user_group_id and g.active
      ))
      and (r.document_id is null or exists (
        select from collab_store.documents d
        where d.organization_key = o.organization_key and d.document_id = r.document_id and d.active
          and (r.annotation_id is null or exists (
            select from collab_store.annotations x
            where x.document_key = d.document_key and x.annotation_id = r.annotation_id and x.active
          ))
      ))
  ) as is_open
from sync.rejected_records r
left join sync.set_aside_records s using (digest);
comment on view sync.unstored_records is 'Rejected records, whether they are there still, and whether a person set them aside. What is open needs a person: a run that meets a whole record that is not set aside is partial.';
comment on column sync.unstored_records.rejected_record_id is 'As in sync.rejected_records.';
comment on column sync.unstored_records.run_id is 'The run that last saw it.';
comment on column sync.unstored_records.at is 'When it was last received.';
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
comment on column sync.unstored_records.first_seen_at is 'When it was first received.';
comment on column sync.unstored_records.last_seen_at is 'When it was last received.';
comment on column sync.unstored_records.times is 'How often that was noted.';
comment on column sync.unstored_records.gone_at is 'When its scope first answered whole without it; null while it is there.';
comment on column sync.unstored_records.is_open is 'True while the last response of its scope contains it, nobody has set it aside, and the scope is in the catalog: it needs a person.';

create table sync.held (
  held_id bigint generated always as identity primary key,
  run_id uuid not null references sync.runs on delete cascade,
  at timestamptz not null default now(),
  resolved_at timestamptz,
  batch_key integer not null,
  scope_key integer not null,
  users_before integer not null,
  repeats smallint not null default 0,
  is_loss boolean not null default true,
  kind text not null check (kind in ('organization', 'document', 'group')),
  resolution text check (resolution in ('accepted', 'refused', 'repeated', 'recovered')),
  content_digest bytea not null,
  organization_id text collate "C" not null,
  document_id text collate "C",
  organization_user_group_id text collate "C",
  missing_user_ids text[] not null,
  decided_by text,
  reason text,
  is_standing boolean not null default false
);
create unique index one_open_hold_a_listing on sync.held (kind, scope_key) where resolved_at is null;
create index on sync.held (run_id);
create index refused_listings on sync.held (kind, scope_key) where is_standing;
create index held_waiting on sync.held (organization_id, held_id) where resolved_at is null;
comment on table sync.held is 'Listings that lost so many users, at once or within seven days, that collab-sync removed none of them. The removal is applied when an operator accepts it, or when HELD_ACCEPT_AFTER nightly runs have returned the same response. After a refusal the listing is held again only when the response changes.';
comment on column sync.held.held_id is 'Internal ID.';
comment on column sync.held.run_id is 'The run that last saw this answer.';
comment on column sync.held.at is 'When the answer was first seen.';
comment on column sync.held.resolved_at is 'When it was applied or withdrawn; null while it waits.';
comment on column sync.held.batch_key is 'Where the listing''s scope lies.';
comment on column sync.held.scope_key is 'Our key of the organization, document or user group.';
comment on column sync.held.users_before is 'Users the listing held before.';
comment on column sync.held.repeats is 'Later scheduled runs in which the same answer came again.';
comment on column sync.held.is_loss is 'True where too many users are missing; false where the response may be incomplete, so that the next complete response decides.';
comment on column sync.held.kind is 'Whose listing: organization, document or group.';
comment on column sync.held.resolution is 'accepted or refused (by an operator), repeated (HELD_ACCEPT_AFTER nightly runs returned the same response), or recovered (a later response contained the users again).';
comment on column sync.held.content_digest is 'Digest of the answer, to know it again.';
comment on column sync.held.organization_id is 'The requested organization.';
comment on column sync.held.document_id is 'The requested document, if any.';
comment on column sync.held.organization_user_group_id is 'The user group asked for, if any.';
comment on column sync.held.missing_user_ids is 'Users whom the response did not contain and who stay in the listing.';
comment on column sync.held.decided_by is 'Who accepted or refused it, as in sync.actions.';
comment on column sync.held.reason is 'The reason that the operator gave.';
comment on column sync.held.is_standing is 'True for a refusal until the response changes.';
comment on index sync.refused_listings is 'Refusals that stand, by listing.';
comment on index sync.held_waiting is 'Held listings that wait for a person, by organization.';
