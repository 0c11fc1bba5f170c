-- Comments as of the last check, and their superseded versions. Fixed-width columns come first, to avoid padding.
-- There is no foreign key to annotations: its check and row lock would make every insert about a fifth slower, and
-- the key can only come from the claimed scope (docs/decisions/2026-11-21-no-foreign-key-from-comments.md).
-- The writing time of a comment is the field named by COMMENT_WRITTEN_MEMBER, otherwise lastUpdated of the first
-- version received. Everything about writing uses it, so that edits do not move comments.
-- If only the current lastUpdated is known, written_at and first_updated are null: without that field, a first load
-- does not grow.
create table collab_store.comments (
  comment_id bigint not null,
  last_updated timestamptz,
  first_seen_at timestamptz not null,
  changed_at timestamptz not null,
  version_at timestamptz not null,
  deleted_at timestamptz,
  organization_key integer not null,
  annotation_key integer not null,
  version integer not null,
  day date,
  digest bytea not null,
  change text not null check (change in ('added', 'edited', 'deleted', 'restored')),
  status text,
  type text,
  author_user_id text collate "C",
  author_name text,
  author_email text,
  comment_text text,
  comment_html text,
  rest jsonb,
  written_at timestamptz,
  first_updated timestamptz,
  not_before timestamptz,
  primary key (annotation_key, comment_id)
-- Reports read comments_activity without the table only where pages are marked as visible to all, and a night's changes
-- remove these marks. By default, autovacuum waits until a fifth of the table has changed, which takes weeks. With these
-- settings it runs after a night that changed 1 % (docs/decisions/2026-11-28-autovacuum.md).
) with (autovacuum_vacuum_scale_factor = 0.005, autovacuum_vacuum_insert_scale_factor = 0.01);
-- Filters on a month use the time itself. Partial indexes contain nothing at a first load, so they do not slow it
-- down.
create index comments_last_updated on collab_store.comments (last_updated);
-- `change` is a key, because PostgreSQL stores equal keys once and INCLUDE columns for each row: edits and deletions are
-- then counted without the table.
create index comments_changed on collab_store.comments (version_at, change) where version > 1;
-- Finds the comments of a day for which reporting.change_delay_daily knows the delay.
create index comments_delay on collab_store.comments (day) where not_before is not null;
-- Finds a month of history: ranges of pages by the time when their versions were first received. It contains only
-- comments that never changed, which are stored in the order in which checks found them. An edited comment stays in
-- place, and the time of its new version would extend the range of its pages to today until the index excluded
-- nothing. comments_changed finds edited comments.
create index comments_noticed on collab_store.comments using brin (version_at) with (pages_per_range = 64, autosummarize = on)
  where version = 1;
-- Activity by day and week is counted from this index alone (docs/decisions/2026-11-21-activity-from-one-index.md), an
-- organization's in the order of its
-- days. It also leads from an organization to all of its comments.
create index comments_activity on collab_store.comments (organization_key, day, author_user_id, annotation_key)
  include (deleted_at);
comment on table collab_store.comments is 'One row per comment with the content of its current version, including deleted comments.';
comment on column collab_store.comments.comment_id is 'The service''s commentId, unique within its annotation.';
comment on column collab_store.comments.last_updated is 'The service''s lastUpdated (the service''s clock).';
comment on column collab_store.comments.first_seen_at is 'When collab-sync first received the comment: time of the response for continuous refresh, start of the batch for a run.';
comment on column collab_store.comments.changed_at is 'When a check last changed this row.';
comment on column collab_store.comments.version_at is 'When a check first received the current version, as first_seen_at.';
comment on column collab_store.comments.deleted_at is 'When the service returned null for the comment''s ID; null while it is live.';
comment on column collab_store.comments.organization_key is 'The organization of the document. Stored here so that reports can count by it without reading the catalog.';
comment on column collab_store.comments.annotation_key is 'The annotation that was fetched.';
comment on column collab_store.comments.version is 'Number of the current version, from 1. comment_versions has the earlier ones.';
comment on column collab_store.comments.day is 'Day in REPORT_TZ of the writing time (collab.comments.written_at).';
comment on column collab_store.comments.digest is 'Digest of the record as received, with sorted keys.';
comment on column collab_store.comments.change is 'What created the current version.';
comment on column collab_store.comments.status is 'Status as received. The service does not document the possible values.';
comment on column collab_store.comments.type is 'Type as received. The service does not document the possible values.';
comment on column collab_store.comments.author_user_id is 'userId of the author, as received with the comment.';
comment on column collab_store.comments.author_name is 'Name of the author, as received with the comment.';
comment on column collab_store.comments.author_email is 'E-mail address of the author, as received with the comment.';
comment on column collab_store.comments.comment_text is 'Plain text; null if the service sent none (a voice comment).';
comment on column collab_store.comments.comment_html is 'HTML body as received. It is user input: always escape it.';
comment on column collab_store.comments.rest is 'Fields of the received object that the other columns cannot reproduce exactly; null if there are none.';
comment on column collab_store.comments.written_at is 'When it was written, from the field COMMENT_WRITTEN_MEMBER (the service''s clock); null without it.';
comment on column collab_store.comments.first_updated is 'last_updated of the first known version if it differs from the current one; -infinity if that had none; otherwise null.';
comment on column collab_store.comments.not_before is 'Start of the last successful check of the thread before the one that first received the comment, which did not exist then. Null if there was no such check, or if it may have missed the comment.';

create table collab_store.comment_versions (
  comment_id bigint not null,
  last_updated timestamptz,
  valid_from timestamptz not null,
  valid_to timestamptz not null,
  annotation_key integer not null,
  version integer not null,
  change text not null check (change in ('added', 'edited', 'deleted', 'restored')),
  status text,
  type text,
  comment_text text,
  comment_html text,
  primary key (annotation_key, comment_id, version)
);
create index comment_versions_noticed on collab_store.comment_versions using brin (valid_from) with (pages_per_range = 64, autosummarize = on);
create index comment_versions_changed on collab_store.comment_versions (valid_from) where version > 1;
comment on table collab_store.comment_versions is 'Superseded versions. A comment that never changed has no row here.';
comment on column collab_store.comment_versions.comment_id is 'The service''s commentId.';
comment on column collab_store.comment_versions.last_updated is 'lastUpdated of that version (the service''s clock).';
comment on column collab_store.comment_versions.valid_from is 'When a check first received this version.';
comment on column collab_store.comment_versions.valid_to is 'When a check first received the next version.';
comment on column collab_store.comment_versions.annotation_key is 'The annotation of the comment.';
comment on column collab_store.comment_versions.version is 'Number of the version, from 1.';
comment on column collab_store.comment_versions.change is 'What created this version.';
comment on column collab_store.comment_versions.status is 'Status in this version.';
comment on column collab_store.comment_versions.type is 'Type in this version.';
comment on column collab_store.comment_versions.comment_text is 'Plain text of this version.';
comment on column collab_store.comment_versions.comment_html is 'HTML body of this version.';

create function collab_store.written_at(written_at timestamptz, first_updated timestamptz, last_updated timestamptz)
returns timestamptz
language sql immutable parallel safe
return coalesce(written_at, nullif(coalesce(first_updated, last_updated), '-infinity'));
comment on function collab_store.written_at(timestamptz, timestamptz, timestamptz) is 'Returns the writing time of a comment from its three columns: written_at, or lastUpdated of its first known version.';

create function collab_store.thread_facts(of_annotation_key integer)
returns table (first_comment_at timestamptz, last_comment_at timestamptz, first_answer_at timestamptz, authors text[])
language sql stable
as $$
  select min(t.written_at), max(t.written_at), min(t.written_at) filter (where t.author_user_id <> t.first_author),
    coalesce(array_agg(distinct t.author_user_id) filter (where t.author_user_id is not null), '{}')
  from (
    select c.author_user_id, w.written_at, first_value(c.author_user_id) over (order by w.written_at, c.comment_id) as first_author
    from collab_store.comments c
    cross join lateral (select collab_store.written_at(c.written_at, c.first_updated, c.last_updated) as written_at) w
    where c.annotation_key = of_annotation_key and c.deleted_at is null
  ) t
$$;
comment on function collab_store.thread_facts(integer) is 'Computes the stored facts of an annotation''s live comments: first and last comment, first answer by another author, authors. For the worker.';
