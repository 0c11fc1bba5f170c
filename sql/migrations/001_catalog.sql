-- Up Migration
-- The catalog, and the batches that group it into units of work.
-- Keys are narrow integers: they cost a third of the service's own ids in every index and every join (docs/decisions).
comment on schema collab_sync is
  'What collab-sync knows of its own tables: which migrations made them. Leave it to the command migrate.';
comment on table collab_sync.migrations is 'Migrations that were applied, in order.';
comment on column collab_sync.migrations.id is 'Counts them.';
comment on column collab_sync.migrations.name is 'File name without .sql.';
comment on column collab_sync.migrations.run_on is 'When it was applied, in the time zone of that session.';
comment on sequence collab_sync.migrations_id_seq is 'Numbers of the column id.';

create schema collab_store;
comment on schema collab_store is
  'Where collab-sync keeps its rows, with narrow integer keys. Made for the worker: query the views of schema collab instead.';

create table collab_store.organizations (
  organization_key integer generated always as identity primary key,
  record_count integer not null default 0,
  users_scopes integer not null default 0,
  comments_scopes integer not null default 0,
  active boolean not null default true,
  own_checked_at timestamptz,
  body_digest bytea,
  content_digest bytea,
  organization_id text collate "C" not null unique,
  -- On the scope, and not in sync.failures, which `prune` empties. Written when a good scope fails and when a failing one is
  -- good again: a night in which nothing changes of that writes nothing.
  failing_since timestamptz,
  name text -- without a CHECK: an erasure does not search a column that has one
);
comment on table collab_store.organizations is 'Organizations of the catalog. Its own listing of users is scope 0 of users batch 0.';
comment on column collab_store.organizations.organization_key is 'Our key; the service''s is organization_id.';
comment on column collab_store.organizations.record_count is 'Users in the last listing that was stored.';
comment on column collab_store.organizations.users_scopes is 'How many users scopes were ever numbered here: the next one''s place in the batches.';
comment on column collab_store.organizations.comments_scopes is 'How many comments scopes (annotations) were ever numbered here.';
comment on column collab_store.organizations.active is 'False when the catalog no longer lists it; it is then not asked for, and its rows stay.';
comment on column collab_store.organizations.own_checked_at is 'Last good check where it differs from the batch''s; -infinity means never checked, null means the batch''s time holds.';
comment on column collab_store.organizations.body_digest is 'Digest of the body of the last listing that was stored, whatever the order of its records; an equal body is not parsed.';
comment on column collab_store.organizations.content_digest is 'Digest of the last stored listing''s records, whatever their order.';
comment on column collab_store.organizations.organization_id is 'The service''s organizationId.';
comment on column collab_store.organizations.failing_since is 'When a try for its listing first failed after the last good one; null where the last try was good. Never null alone: own_checked_at is then set too.';
comment on column collab_store.organizations.name is 'Its name for people, from the catalog lines; null where none was given. It is never sent to the service.';

create table collab_store.batches (
  batch_key integer generated always as identity primary key,
  organization_key integer not null references collab_store.organizations,
  batch_no integer not null,
  scopes integer not null default 0,
  version bigint not null default 0,
  checked_at timestamptz,
  operation text not null check (operation in ('users', 'comments')),
  comments integer not null default 0,
  unique (organization_key, operation, batch_no)
) with (fillfactor = 50); -- updated once a run: room on the page keeps those updates out of the indexes
comment on table collab_store.batches is 'Up to 256 scopes of one organization and one operation, fixed when they are imported: what one item of a run works on, and what one row says about when they were checked.';
comment on column collab_store.batches.batch_key is 'Our number, by which items of runs and scopes name it.';
comment on column collab_store.batches.organization_key is 'The organization whose scopes it holds.';
comment on column collab_store.batches.batch_no is 'Counts from 0 within the organization and operation.';
comment on column collab_store.batches.scopes is 'Active scopes in it, as of the last catalog import: what a run plans.';
comment on column collab_store.batches.version is 'The highest claim number that wrote to any of its scopes; work with a lower number is thrown away, so an older answer never overwrites a newer one.';
comment on column collab_store.batches.checked_at is 'When the last run that went through the whole batch began to ask; scopes that differ carry their own time.';
comment on column collab_store.batches.operation is 'users: listings of the organization, its groups and documents. comments: its annotations.';
comment on column collab_store.batches.comments is 'Live comments stored under its annotations, kept by a trigger: to add them up for a page of large organizations takes half a second.';

create table collab_store.user_groups (
  user_group_key integer generated always as identity primary key,
  record_count integer not null default 0,
  organization_key integer not null references collab_store.organizations,
  batch_key integer not null references collab_store.batches,
  scope_no smallint not null,
  active boolean not null default true,
  own_checked_at timestamptz,
  body_digest bytea,
  content_digest bytea,
  organization_user_group_id text collate "C" not null,
  failing_since timestamptz,
  name text,
  unique (organization_key, organization_user_group_id)
);
create index on collab_store.user_groups (batch_key);
-- Scopes that differ from their batch are few: totals come from the batches and from these.
create index user_groups_own_check on collab_store.user_groups (batch_key, scope_no) include (own_checked_at, failing_since)
where own_checked_at is not null and active;
comment on table collab_store.user_groups is 'Organization user groups of the catalog.';
comment on column collab_store.user_groups.user_group_key is 'Our number; the service''s id is organization_user_group_id.';
comment on column collab_store.user_groups.record_count is 'Users in the last listing that was stored.';
comment on column collab_store.user_groups.organization_key is 'The organization it belongs to.';
comment on column collab_store.user_groups.batch_key is 'The batch that asks for its members.';
comment on column collab_store.user_groups.scope_no is 'Its place in the batch, from 0.';
comment on column collab_store.user_groups.active is 'False when the catalog no longer lists it.';
comment on column collab_store.user_groups.own_checked_at is 'As in organizations.';
comment on column collab_store.user_groups.body_digest is 'As in organizations.';
comment on column collab_store.user_groups.content_digest is 'As in organizations.';
comment on column collab_store.user_groups.organization_user_group_id is 'The service''s organization user group id.';
comment on column collab_store.user_groups.failing_since is 'As in organizations.';
comment on column collab_store.user_groups.name is 'As in organizations.';
comment on index collab_store.user_groups_own_check is 'Scopes whose last good check is not their batch''s.';

create table collab_store.documents (
  document_key integer generated always as identity primary key,
  record_count integer not null default 0,
  organization_key integer not null references collab_store.organizations,
  batch_key integer not null references collab_store.batches,
  scope_no smallint not null,
  active boolean not null default true,
  own_checked_at timestamptz,
  body_digest bytea,
  content_digest bytea,
  document_id text collate "C" not null,
  failing_since timestamptz,
  name text,
  unique (organization_key, document_id)
);
create index on collab_store.documents (batch_key);
create index documents_own_check on collab_store.documents (batch_key, scope_no) include (own_checked_at, failing_since)
where own_checked_at is not null and active;
comment on table collab_store.documents is 'Documents of the catalog. Its scope is its listing of users; its annotations are scopes of their own.';
comment on column collab_store.documents.document_key is 'Our number; the service''s id is document_id.';
comment on column collab_store.documents.record_count is 'Users in the last listing that was stored.';
comment on column collab_store.documents.organization_key is 'The organization that holds it.';
comment on column collab_store.documents.batch_key is 'The users batch that asks for its listing.';
comment on column collab_store.documents.scope_no is 'Its place in the batch, from 0.';
comment on column collab_store.documents.active is 'False when the catalog no longer lists it.';
comment on column collab_store.documents.own_checked_at is 'As in organizations.';
comment on column collab_store.documents.body_digest is 'As in organizations.';
comment on column collab_store.documents.content_digest is 'As in organizations.';
comment on column collab_store.documents.document_id is 'The service''s documentId.';
comment on column collab_store.documents.failing_since is 'As in organizations.';
comment on column collab_store.documents.name is 'As in organizations.';
comment on index collab_store.documents_own_check is 'Scopes whose last good check is not their batch''s.';

-- What threads are asked for most (first_comment_at to authors) is kept with them, in the transaction that changes their
-- comments: over 5,000,000 comments it cannot be computed in time. collab_store.thread_facts() computes it.
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
) with (fillfactor = 30); -- a row grows fourfold with its first answer: with room for that it stays where it is, and no index is touched
create index on collab_store.annotations (batch_key);
-- From a comment to its document without the annotation's digests and authors: every report goes that way.
create index annotations_document on collab_store.annotations (annotation_key) include (document_key);
create index annotations_own_check on collab_store.annotations (batch_key, scope_no) include (own_checked_at, failing_since)
where own_checked_at is not null and active;
-- What left the catalog is counted apart. There is nothing in it where nothing left.
create index annotations_not_in_catalog on collab_store.annotations (document_key) where not active;
comment on table collab_store.annotations is 'Comment annotations of the catalog, with what is known of their last stored answer.';
comment on column collab_store.annotations.annotation_key is 'Our key; comments carry it.';
comment on column collab_store.annotations.document_key is 'The document that holds it.';
comment on column collab_store.annotations.batch_key is 'The comments batch that asks for it.';
comment on column collab_store.annotations.comment_count is 'Live comments stored under it.';
comment on column collab_store.annotations.changed_at is 'When a check last found any of its comments added, changed, deleted or restored.';
comment on column collab_store.annotations.own_checked_at is 'As in organizations.';
comment on column collab_store.annotations.scope_no is 'Its place in the batch, from 0.';
comment on column collab_store.annotations.active is 'False when the catalog no longer lists it.';
comment on column collab_store.annotations.body_digest is 'Digest of the body of the last response that was stored, whatever the order of its records; null when that response held something that could not be stored.';
comment on column collab_store.annotations.content_digest is 'Digest of the last stored answer''s comments, whatever their order; null as body_digest.';
comment on column collab_store.annotations.annotation_id is 'The service''s annotationId.';
comment on column collab_store.annotations.first_comment_at is 'Earliest time a live comment was written.';
comment on column collab_store.annotations.last_comment_at is 'Latest time a live comment was written.';
comment on column collab_store.annotations.first_answer_at is 'Earliest time a live comment was written by another author than the first one''s.';
comment on column collab_store.annotations.authors is 'userIds of the authors of live comments, each once, sorted.';
comment on column collab_store.annotations.failing_since is 'As in organizations.';
comment on index collab_store.annotations_own_check is 'Scopes whose last good check is not their batch''s.';
comment on index collab_store.annotations_not_in_catalog is 'Annotations that left the catalog.';

-- A trigger, so that the sum is right whatever statement writes to annotations. Once a statement, not once a row; whoever
-- changes counts of comments holds the batch already, so that nobody waits for it.
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
comment on function collab_store.add_up_comments() is 'Keeps batches.comments equal to the sum of comment_count over the batch''s annotations. For the trigger of annotations.';

create trigger add_up_comments after update on collab_store.annotations
referencing old table as old_rows new table as new_rows
for each statement execute function collab_store.add_up_comments();
comment on trigger add_up_comments on collab_store.annotations is 'Keeps batches.comments.';
