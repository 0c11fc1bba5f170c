-- The catalog, and the batches that group its scopes into units of work.
-- Keys are integers: in each index and join they cost a third of the service's own IDs
-- (docs/decisions/2026-11-21-views-over-narrow-keys.md).
create schema collab_sync;
comment on schema collab_sync is
  'Internal to collab-sync: which migrations were applied.';
create table collab_sync.migrations (
  name text primary key,
  checksum text not null check (checksum ~ '^[0-9a-f]{64}$'),
  works_with text,
  version text not null,
  applied_at timestamptz not null default clock_timestamp()
);
comment on table collab_sync.migrations is 'Applied migrations.';
comment on column collab_sync.migrations.name is 'File name without .sql.';
comment on column collab_sync.migrations.checksum is 'SHA-256 of the file.';
comment on column collab_sync.migrations.works_with is 'Oldest version of collab-sync that also works with these tables; null if only versions that have the migration do.';
comment on column collab_sync.migrations.version is 'Version of collab-sync that applied it.';
comment on column collab_sync.migrations.applied_at is 'When it was applied.';

create schema collab_store;
comment on schema collab_store is
  'Internal tables with integer keys, for the worker. Query the views of schema collab instead.';

create table collab_store.organizations (
  organization_key integer generated always as identity primary key,
  active boolean not null default true,
  organization_id text collate "C" not null unique,
  name text -- without a CHECK, because an erasure does not search columns with a CHECK
);
comment on table collab_store.organizations is 'Organizations of the catalog.';
comment on column collab_store.organizations.organization_key is 'Internal key; organization_id is the service''s.';
comment on column collab_store.organizations.active is 'False once the catalog no longer lists it. It is then no longer fetched, but its rows are kept.';
comment on column collab_store.organizations.organization_id is 'The service''s organizationId.';
comment on column collab_store.organizations.name is 'Display name from the catalog; null if none was given. Never sent to the service.';

create table collab_store.batches (
  batch_key integer generated always as identity primary key,
  organization_key integer not null references collab_store.organizations,
  batch_no integer not null,
  scopes integer not null default 0,
  assigned integer not null default 0,
  version bigint not null default 0,
  checked_at timestamptz,
  operation text not null check (operation in ('users', 'comments')),
  comments integer not null default 0,
  unique (organization_key, operation, batch_no)
) with (fillfactor = 50); -- updated once per run: free space on the page avoids index updates
comment on table collab_store.batches is 'Up to 256 scopes of one organization and operation, assigned when they are imported. One work item of a run processes a batch, and one row stores when it was checked.';
comment on column collab_store.batches.batch_key is 'Internal key, used by work items and scopes.';
comment on column collab_store.batches.organization_key is 'The organization of its scopes.';
comment on column collab_store.batches.batch_no is 'Number of the batch within the organization and operation, from 0.';
comment on column collab_store.batches.scopes is 'Active scopes in the batch as of the last catalog import. Runs are planned from it.';
comment on column collab_store.batches.assigned is 'Scopes ever assigned to the batch, active or not. The next one of the organization and operation follows the last of them.';
comment on column collab_store.batches.version is 'Highest claim number that wrote to one of its scopes. Work with a lower number is discarded, so that an older response never overwrites a newer one.';
comment on column collab_store.batches.checked_at is 'When the last run that processed the whole batch started to fetch it. Scopes that differ have their own time.';
comment on column collab_store.batches.operation is 'users: listings of the organization, its user groups and documents. comments: its annotations.';
comment on column collab_store.batches.comments is 'Live comments stored for its annotations, maintained by a trigger. Summing them for a page of large organizations takes half a second.';

create table collab_store.user_groups (
  user_group_key integer generated always as identity primary key,
  organization_key integer not null references collab_store.organizations,
  active boolean not null default true,
  organization_user_group_id text collate "C" not null,
  name text,
  unique (organization_key, organization_user_group_id)
);
comment on table collab_store.user_groups is 'Organization user groups of the catalog.';
comment on column collab_store.user_groups.user_group_key is 'Internal key; organization_user_group_id is the service''s.';
comment on column collab_store.user_groups.organization_key is 'The organization of the user group.';
comment on column collab_store.user_groups.active is 'False once the catalog no longer lists it.';
comment on column collab_store.user_groups.organization_user_group_id is 'The service''s ID of the organization user group.';
comment on column collab_store.user_groups.name is 'As in organizations.';

create table collab_store.documents (
  document_key integer generated always as identity primary key,
  organization_key integer not null references collab_store.organizations,
  active boolean not null default true,
  document_id text collate "C" not null,
  name text,
  unique (organization_key, document_id)
);
comment on table collab_store.documents is 'Documents of the catalog. Its user listing is a row of listings.';
comment on column collab_store.documents.document_key is 'Internal key; document_id is the service''s.';
comment on column collab_store.documents.organization_key is 'The organization of the document.';
comment on column collab_store.documents.active is 'False once the catalog no longer lists it.';
comment on column collab_store.documents.document_id is 'The service''s documentId.';
comment on column collab_store.documents.name is 'As in organizations.';

-- The check of an annotation's comments is in the annotation's row (docs/decisions/2026-11-28-listings.md).
create table collab_store.listings (
  batch_key integer not null references collab_store.batches,
  scope_key integer not null,
  scope_no smallint not null,
  active boolean not null default true,
  record_count integer not null default 0,
  own_checked_at timestamptz,
  -- Stored with the scope and not in sync.failures, which `prune` empties. Written when a scope starts to fail and
  -- when it recovers, so that a night without such changes writes nothing.
  failing_since timestamptz,
  operation text not null check (operation in ('users')),
  kind text not null check (kind in ('organization', 'group', 'document')),
  body_digest bytea,
  content_digest bytea,
  primary key (batch_key, scope_no),
  unique (scope_key, kind, operation)
);
-- Few scopes differ from their batch, so totals are computed from the batches and these scopes.
create index listings_own_check on collab_store.listings (batch_key, scope_no) include (own_checked_at, failing_since, operation)
where own_checked_at is not null and active;
comment on table collab_store.listings is 'Scopes other than the comments of annotations, with facts about their last stored response: one for each operation that lists something of an organization, user group or document.';
comment on column collab_store.listings.batch_key is 'The batch that fetches it.';
comment on column collab_store.listings.scope_key is 'Internal key of the organization, user group or document.';
comment on column collab_store.listings.scope_no is 'Position in the batch, from 0.';
comment on column collab_store.listings.active is 'False once the catalog no longer lists that organization, user group or document.';
comment on column collab_store.listings.record_count is 'Records stored for it; of users, including those whose removal is held or was refused.';
comment on column collab_store.listings.own_checked_at is 'Last successful check if it differs from the batch''s; -infinity if never checked; null if the batch''s time applies.';
comment on column collab_store.listings.failing_since is 'When a check first failed after the last successful one; null if the last check succeeded. If set, own_checked_at is set too.';
comment on column collab_store.listings.operation is 'The operation of the batch.';
comment on column collab_store.listings.kind is 'What scope_key is a key of: organization, group or document.';
comment on column collab_store.listings.body_digest is 'Digest of the body of the last stored response, independent of the order of records. A response with the same digest is not parsed.';
comment on column collab_store.listings.content_digest is 'Digest of the records of the last stored response, independent of their order.';
comment on index collab_store.listings_own_check is 'Scopes whose last successful check differs from their batch''s.';

-- The most requested facts of a thread (first_comment_at to authors) are stored in the transaction that changes its
-- comments, because reports would wait too long for collab_store.thread_facts().
create table collab_store.annotations (
  annotation_key integer generated always as identity primary key,
  document_key integer not null references collab_store.documents,
  batch_key integer not null references collab_store.batches,
  comment_count integer not null default 0,
  changed_at timestamptz,
  own_checked_at timestamptz,
  scope_no smallint not null,
  active boolean not null default true,
  body_digest bytea,
  content_digest bytea,
  annotation_id text collate "C" not null,
  first_comment_at timestamptz,
  last_comment_at timestamptz,
  first_answer_at timestamptz,
  authors text[] not null default '{}',
  failing_since timestamptz,
  unique (document_key, annotation_id)
-- A row grows fourfold with its first response: with free space it stays on its page, and no index is updated.
-- Autovacuum as for comments, because every report reads annotations_document.
) with (fillfactor = 30, autovacuum_vacuum_scale_factor = 0.005, autovacuum_vacuum_insert_scale_factor = 0.01);
create index on collab_store.annotations (batch_key);
-- Leads from a comment to its document without reading the annotation's digests and authors. Every report uses it.
create index annotations_document on collab_store.annotations (annotation_key) include (document_key);
create index annotations_own_check on collab_store.annotations (batch_key, scope_no) include (own_checked_at, failing_since)
where own_checked_at is not null and active;
-- Scopes that left the catalog are counted separately. The index is empty if none did.
create index annotations_not_in_catalog on collab_store.annotations (document_key) where not active;
comment on table collab_store.annotations is 'Comment annotations of the catalog, with facts about their last stored response.';
comment on column collab_store.annotations.annotation_key is 'Internal key, used by comments.';
comment on column collab_store.annotations.document_key is 'The document of the annotation.';
comment on column collab_store.annotations.batch_key is 'The comments batch that fetches it.';
comment on column collab_store.annotations.comment_count is 'Live comments stored for it.';
comment on column collab_store.annotations.changed_at is 'When a check last found any of its comments added, changed, deleted or restored.';
comment on column collab_store.annotations.own_checked_at is 'As in listings.';
comment on column collab_store.annotations.scope_no is 'Position in the batch, from 0.';
comment on column collab_store.annotations.active is 'False once the catalog no longer lists it.';
comment on column collab_store.annotations.body_digest is 'Digest of the body of the last stored response, independent of the order of records; null if part of that response could not be stored.';
comment on column collab_store.annotations.content_digest is 'Digest of the comments of the last stored response, independent of their order; null as body_digest.';
comment on column collab_store.annotations.annotation_id is 'The service''s annotationId.';
comment on column collab_store.annotations.first_comment_at is 'Earliest writing time of its live comments.';
comment on column collab_store.annotations.last_comment_at is 'Latest writing time of its live comments.';
comment on column collab_store.annotations.first_answer_at is 'Earliest writing time of a live comment by an author other than that of the first comment.';
comment on column collab_store.annotations.authors is 'Distinct userIds of the authors of live comments, sorted.';
comment on column collab_store.annotations.failing_since is 'As in listings.';
comment on index collab_store.annotations_own_check is 'Scopes whose last successful check differs from their batch''s.';
comment on index collab_store.annotations_not_in_catalog is 'Annotations that left the catalog.';

-- Keeps the sum correct whichever statement writes to annotations. Its transaction has already locked the batch.
create function collab_store.add_up_comments() returns trigger
language plpgsql
as $$
begin
  update collab_store.batches b
  set comments = b.comments + d.more
  from (
    select n.batch_key, sum(n.comment_count - o.comment_count) as more
    from new_rows n
    join old_rows o using (annotation_key)
    where n.comment_count <> o.comment_count
    group by n.batch_key
  ) d
  where b.batch_key = d.batch_key and d.more <> 0;
  return null;
end
$$;
comment on function collab_store.add_up_comments() is 'Updates batches.comments to the sum of comment_count over the batch''s annotations. For the trigger of annotations.';

create trigger add_up_comments after update on collab_store.annotations
referencing old table as old_rows new table as new_rows
for each statement execute function collab_store.add_up_comments();
comment on trigger add_up_comments on collab_store.annotations is 'Updates batches.comments.';

-- What is known of the check of each scope, for reports that count scopes of all kinds.
create view collab_store.scopes as
select batch_key, scope_no, operation, active, own_checked_at, failing_since from collab_store.listings
union all
select batch_key, scope_no, 'comments', active, own_checked_at, failing_since from collab_store.annotations;
comment on view collab_store.scopes is 'All scopes. Key: batch_key, scope_no.';
comment on column collab_store.scopes.batch_key is 'The batch of the scope.';
comment on column collab_store.scopes.scope_no is 'Position in the batch, from 0.';
comment on column collab_store.scopes.operation is 'The read operation, such as users or comments.';
comment on column collab_store.scopes.active is 'False once the catalog no longer lists it.';
comment on column collab_store.scopes.own_checked_at is 'As in listings.';
comment on column collab_store.scopes.failing_since is 'As in listings.';
