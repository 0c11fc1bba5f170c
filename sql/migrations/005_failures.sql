-- Scopes that failed, records that could not be stored, and held removals.
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
-- Without this index PostgreSQL may read all failures backward for each organization, which takes minutes where many scopes fail.
create index failures_unresolved_of_organization on sync.failures (organization_id, failure_id) where resolved_at is null;
comment on table sync.failures is 'One row per run and scope without a usable response.';
comment on column sync.failures.failure_id is 'Internal ID.';
comment on column sync.failures.run_id is 'The run that fetched the scope, as in sync.runs.';
comment on column sync.failures.at is 'When the worker gave up on the scope.';
comment on column sync.failures.batch_key is 'The batch of the scope.';
comment on column sync.failures.http_status is 'HTTP status of the last response; null if there was none.';
comment on column sync.failures.attempts is 'Number of calls made for it.';
comment on column sync.failures.scope_no is 'Position of the scope in its batch.';
comment on column sync.failures.operation is 'The read operation, such as users or comments.';
comment on column sync.failures.organization_id is 'The requested organization.';
comment on column sync.failures.document_id is 'The requested document; null if none.';
comment on column sync.failures.annotation_id is 'The requested annotation; null if none.';
comment on column sync.failures.organization_user_group_id is 'The requested user group; null if none.';
comment on column sync.failures.error_status is 'error.status of the response, or a lower-case code of collab-sync such as timeout.';
comment on column sync.failures.error_message is 'error.message of the response or network, shortened and without credentials.';
comment on column sync.failures.resolved_at is 'When the scope next returned a usable response, in any run, even with held removals; null until then.';
comment on column sync.failures.resolved_by is 'The run that received this response; it may have been pruned.';
comment on index sync.failures_of_organization is 'Failures of one organization, newest first.';
comment on index sync.failures_unresolved is 'Failures that the next usable response of their scope resolves.';
comment on index sync.failures_unresolved_of_organization is 'Finds the newest unresolved failure of an organization.';

-- The state of a failure follows from this view: the failure is resolved, or its scope is listed here, or its scope
-- left the catalog. If an organization left the catalog, so did its scopes.
create view sync.failing_scopes as
select batch_key, scope_no
from collab_store.scopes
where active and own_checked_at is not null and failing_since is not null;
comment on view sync.failing_scopes is 'Scopes of the catalog whose last check failed.';
comment on column sync.failing_scopes.batch_key is 'The batch of the scope.';
comment on column sync.failing_scopes.scope_no is 'Position of the scope in its batch.';

-- The scopes that a run names: all, only those that fail now, or those that failed in an earlier run and still fail. Without
-- organizations: those of all active ones; without an annotation: all active ones of the document.
create function sync.scopes_of(operations text[], organization_ids text[], in_document text, in_annotation text, user_group_ids text[],
  users_are_named boolean, failed_of uuid, only_failing boolean, organizations_are_whole boolean)
returns table (organization_key integer, batch_key integer, scope_no smallint)
language sql stable
as $$
  select distinct w.organization_key, w.batch_key, w.scope_no
  from (
    select d.organization_key, a.batch_key, a.scope_no
    from collab_store.annotations a
    join collab_store.documents d using (document_key)
    join collab_store.organizations o using (organization_key)
    where 'comments' = any(operations) and o.organization_id = any(organization_ids) and d.document_id = in_document
      and case when in_annotation is null then a.active else a.annotation_id = in_annotation end
    union all
    select n.organization_key, l.batch_key, l.scope_no
    from (
      select d.organization_key, 'document' as kind, d.document_key as scope_key
      from collab_store.documents d
      join collab_store.organizations o using (organization_key)
      where o.organization_id = any(organization_ids) and d.document_id = in_document
      union all
      select g.organization_key, 'group', g.user_group_key
      from collab_store.user_groups g
      join collab_store.organizations o using (organization_key)
      where (organization_ids is null or o.organization_id = any(organization_ids))
        and g.organization_user_group_id = any(user_group_ids)
      union all
      select o.organization_key, 'organization', o.organization_key
      from collab_store.organizations o
      where users_are_named and case when organization_ids is null then o.active else o.organization_id = any(organization_ids) end
    ) n
    join collab_store.listings l on l.kind = n.kind and l.scope_key = n.scope_key and l.operation = any(operations)
    union all
    select b.organization_key, x.batch_key, x.scope_no
    from sync.failing_scopes x
    join collab_store.batches b using (batch_key)
    join collab_store.organizations o using (organization_key)
    where organizations_are_whole and b.operation = any(operations)
      and (organization_ids is null or o.organization_id = any(organization_ids))
    union all
    select b.organization_key, f.batch_key, f.scope_no
    from sync.failures f
    join sync.failing_scopes x on x.batch_key = f.batch_key and x.scope_no = f.scope_no
    join collab_store.batches b on b.batch_key = f.batch_key
    where f.run_id = failed_of and f.resolved_at is null
  ) w
  where not only_failing or (w.batch_key, w.scope_no) in (select f.batch_key, f.scope_no from sync.failing_scopes f)
$$;
comment on function sync.scopes_of(text[], text[], text, text, text[], boolean, uuid, boolean, boolean) is 'Returns the scopes that a run names, each once. Not for runs of whole organizations, unless only of their failing scopes.';

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
comment on table sync.observed_errors is 'Failures with an unknown meaning. The service documents neither its error codes nor its HTTP statuses.';
comment on column sync.observed_errors.times is 'Number of scopes that failed with it.';
comment on column sync.observed_errors.first_seen_at is 'When it first occurred.';
comment on column sync.observed_errors.last_seen_at is 'When it last occurred.';
comment on column sync.observed_errors.http_status is 'HTTP status of the response.';
comment on column sync.observed_errors.operation is 'The read operation, such as users or comments.';
comment on column sync.observed_errors.error_status is 'error.status of the response; empty if there was none.';
comment on column sync.observed_errors.sample is 'One message of these failures, shortened, without credentials.';

-- A rejected record has one row, identified by its scope and content, whichever run receives it. A run that rejects a
-- whole record is partial. A record that an operator set aside is recognized by its digest, so that it makes no later
-- run partial.
create table sync.rejected_records (
  rejected_record_id bigint generated always as identity primary key,
  run_id uuid not null, -- no reference: the run may be pruned first
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
comment on table sync.rejected_records is 'Records, or fields of records, that PostgreSQL or our types cannot store, as received.';
comment on column sync.rejected_records.rejected_record_id is 'Internal ID.';
comment on column sync.rejected_records.run_id is 'The run that last received it; it may have been pruned.';
comment on column sync.rejected_records.at is 'When it was last received.';
comment on column sync.rejected_records.operation is 'The read operation, such as users or comments.';
comment on column sync.rejected_records.organization_id is 'The requested organization.';
comment on column sync.rejected_records.document_id is 'The requested document; null if none.';
comment on column sync.rejected_records.annotation_id is 'The requested annotation; null if none.';
comment on column sync.rejected_records.organization_user_group_id is 'The requested user group; null if none.';
comment on column sync.rejected_records.reason is 'What is wrong, with the name of the field, and the column set to null if the rest of the record was stored.';
comment on column sync.rejected_records.record is 'JSON text of the record, as received.';
comment on column sync.rejected_records.is_whole is 'True if nothing of the record was stored; false if the rest of it, or an equal record, was.';
comment on column sync.rejected_records.digest is 'Digest of the operation, the four IDs and the record, which identifies it; if the record''s text is not known, of the reason.';
comment on column sync.rejected_records.first_seen_at is 'When it was first received.';
comment on column sync.rejected_records.last_seen_at is 'When it was last received; continuous refresh updates this at most once an hour.';
comment on column sync.rejected_records.times is 'Number of times this was recorded.';
comment on column sync.rejected_records.gone_at is 'When its scope first returned a complete response without it, because it was corrected or deleted; null until then.';
comment on index sync.one_row_a_rejected_record is 'The same record has one row per reason.';
comment on index sync.rejected_records_in_place is 'Rejected records still received, by organization.';

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
comment on table sync.set_aside_records is 'Digests of rejected records that an operator set aside. The same content in the same scope makes no later run partial.';
comment on column sync.set_aside_records.digest is 'As in sync.rejected_records.';
comment on column sync.set_aside_records.set_aside_at is 'When it was set aside.';
comment on column sync.set_aside_records.operation is 'The read operation, such as users or comments.';
comment on column sync.set_aside_records.organization_id is 'The requested organization.';
comment on column sync.set_aside_records.document_id is 'The requested document; null if none.';
comment on column sync.set_aside_records.annotation_id is 'The requested annotation; null if none.';
comment on column sync.set_aside_records.organization_user_group_id is 'The requested user group; null if none.';
comment on column sync.set_aside_records.set_aside_by is 'Who set it aside, as in sync.actions.';
comment on column sync.set_aside_records.reason is 'Reason that the operator gave; null if none.';

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
  ) as is_open,
  -- Two equal records are no field: the second one is rejected, and nothing is lost.
  not r.is_whole and r.reason not like '% is in the response twice, with equal content' as is_field
from sync.rejected_records r
left join sync.set_aside_records s using (digest);
comment on view sync.unstored_records is 'Rejected records with their state. A run is partial if it receives a whole record that was not set aside.';
comment on column sync.unstored_records.rejected_record_id is 'As in sync.rejected_records.';
comment on column sync.unstored_records.run_id is 'As in sync.rejected_records.';
comment on column sync.unstored_records.at is 'As in sync.rejected_records.';
comment on column sync.unstored_records.operation is 'The read operation, such as users or comments.';
comment on column sync.unstored_records.organization_id is 'The requested organization.';
comment on column sync.unstored_records.document_id is 'The requested document; null if none.';
comment on column sync.unstored_records.annotation_id is 'The requested annotation; null if none.';
comment on column sync.unstored_records.organization_user_group_id is 'The requested user group; null if none.';
comment on column sync.unstored_records.reason is 'As in sync.rejected_records.';
comment on column sync.unstored_records.record is 'As in sync.rejected_records.';
comment on column sync.unstored_records.is_whole is 'As in sync.rejected_records.';
comment on column sync.unstored_records.digest is 'As in sync.rejected_records.';
comment on column sync.unstored_records.set_aside_at is 'When an operator set it aside; null if none did.';
comment on column sync.unstored_records.set_aside_by is 'Who set it aside.';
comment on column sync.unstored_records.set_aside_reason is 'Reason that the operator gave.';
comment on column sync.unstored_records.first_seen_at is 'As in sync.rejected_records.';
comment on column sync.unstored_records.last_seen_at is 'As in sync.rejected_records.';
comment on column sync.unstored_records.times is 'As in sync.rejected_records.';
comment on column sync.unstored_records.gone_at is 'As in sync.rejected_records.';
comment on column sync.unstored_records.is_field is 'True for a field of a record that was stored without it; false for a rejected record. The two are counted apart.';
comment on column sync.unstored_records.is_open is 'True if it needs a decision: the last response of its scope contained it, it was not set aside, and the catalog lists the scope.';

create table sync.held (
  held_id bigint generated always as identity primary key,
  run_id uuid not null references sync.runs on delete cascade,
  at timestamptz not null default now(),
  resolved_at timestamptz,
  batch_key integer not null,
  scope_key integer not null,
  users_before integer not null,
  users_returned integer not null default 0,
  repeats smallint not null default 0,
  is_loss boolean not null default true,
  operation text not null,
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
create unique index one_open_hold_a_listing on sync.held (operation, kind, scope_key) where resolved_at is null;
create index on sync.held (run_id);
create index refused_listings on sync.held (operation, kind, scope_key) where is_standing;
create index held_waiting on sync.held (organization_id, held_id) where resolved_at is null;
comment on table sync.held is 'Held removals: listings that lost so many users, at once or within seven days, that collab-sync removed none of them. The removal is applied when an operator accepts it, or when HELD_ACCEPT_AFTER nightly runs have returned the same response. After a refusal, the listing is held again only when the response changes.';
comment on column sync.held.held_id is 'Internal ID.';
comment on column sync.held.run_id is 'The run that last received this response.';
comment on column sync.held.at is 'When the response was first received.';
comment on column sync.held.resolved_at is 'When the removal was decided or the users returned; null while pending.';
comment on column sync.held.batch_key is 'The batch of the listing''s scope.';
comment on column sync.held.scope_key is 'Internal key of the organization, document or user group.';
comment on column sync.held.users_before is 'Number of users in the listing before.';
comment on column sync.held.users_returned is 'Number of users in this response.';
comment on column sync.held.repeats is 'Number of later scheduled runs that received the same response.';
comment on column sync.held.is_loss is 'True if too many users are missing; false if the response may be incomplete: then the next complete response decides.';
comment on column sync.held.operation is 'The operation of the listing.';
comment on column sync.held.kind is 'Whose listing it is: organization, document or group.';
comment on column sync.held.resolution is 'accepted or refused (by an operator), repeated (HELD_ACCEPT_AFTER nightly runs returned the same response), or recovered (the users returned).';
comment on column sync.held.content_digest is 'Digest of the response.';
comment on column sync.held.organization_id is 'The requested organization.';
comment on column sync.held.document_id is 'The requested document; null if none.';
comment on column sync.held.organization_user_group_id is 'The requested user group; null if none.';
comment on column sync.held.missing_user_ids is 'Users who are missing from the response and stay in the listing.';
comment on column sync.held.decided_by is 'Who accepted or refused it, as in sync.actions.';
comment on column sync.held.reason is 'Reason that the operator gave; null if none.';
comment on column sync.held.is_standing is 'True for a refusal that applies until the response changes.';
comment on index sync.refused_listings is 'Refusals that still apply, by listing.';
comment on index sync.held_waiting is 'Held removals that are pending approval, by organization.';

create function sync.old_runs(finished_before timestamptz) returns setof uuid
language sql stable
as $$
  select r.run_id
  from sync.runs r
  where r.finished_at < finished_before
    and not exists (select from sync.held h where h.run_id = r.run_id and (h.resolved_at is null or h.is_standing))
$$;
comment on function sync.old_runs(timestamptz) is 'Returns the finished runs that prune deletes. A run with a removal that is pending, or was refused and stays refused, is kept.';
