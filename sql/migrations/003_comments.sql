-- Up Migration
-- Comments as of the last check, and their superseded versions. Fixed-width columns first: no padding between them.
-- No foreign key to annotations: its check and row lock would cost every insert about a fifth, and the key can only
-- come from the claimed scope (docs/decisions).
-- When a comment was written: by the member of it that says so (COMMENT_WRITTEN_MEMBER), else by lastUpdated of the first
-- version that was seen, whatever became of it since. What speaks of writing goes by that, and edits move nothing.
-- Where nothing is known but the current lastUpdated, written_at and first_updated are null: a first load without the member
-- is not a byte larger.
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
);
-- Narrowing to a month is by the time itself. What the partial ones hold is nothing at a first load, so that they cost it
-- nothing.
create index comments_last_updated on collab_store.comments (last_updated);
create index comments_changed on collab_store.comments (version_at) where version > 1;
-- What a month of history is found by: ranges of pages by when their versions were first seen. Comments that never changed
-- lie in the order in which checks found them, and this index holds them alone. An edited comment stays where it is, and
-- its new version's time would stretch its pages' range to today, until the index excludes nothing: edited ones are found
-- by comments_changed.
create index comments_noticed on collab_store.comments using brin (version_at) with (pages_per_range = 64, autosummarize = on)
  where version = 1;
-- Activity by day and week is counted from this index alone (docs/decisions): an organization's, in the order of its days.
-- It is also the way from an organization to all of its comments.
create index comments_activity on collab_store.comments (organization_key, day, author_user_id, annotation_key)
  include (deleted_at);
comment on table collab_store.comments is 'One row a comment, deleted ones too, with the current version''s content.';
comment on column collab_store.comments.comment_id is 'The service''s commentId, unique within its annotation.';
comment on column collab_store.comments.last_updated is 'The service''s lastUpdated (the service''s clock).';
comment on column collab_store.comments.first_seen_at is 'When a check first saw the comment (our clock): when its answer came where refresh saw it, when its batch was begun where a run did.';
comment on column collab_store.comments.changed_at is 'When a check last changed this row.';
comment on column collab_store.comments.version_at is 'When a check first saw the current version (our clock), as first_seen_at.';
comment on column collab_store.comments.deleted_at is 'When the service answered null for this comment''s id; null while it is live.';
comment on column collab_store.comments.organization_key is 'The organization of the annotation''s document, here as well because reports count by it without asking the catalog (docs/decisions).';
comment on column collab_store.comments.annotation_key is 'The annotation whose scope was asked.';
comment on column collab_store.comments.version is 'Number of the current version, from 1; earlier ones are in comment_versions.';
comment on column collab_store.comments.day is 'Day in the time zone of reports (REPORT_TZ) on which it was written, as collab.comments.written_at tells it.';
comment on column collab_store.comments.digest is 'Digest of the record as received, with its keys sorted.';
comment on column collab_store.comments.change is 'What made the current version.';
comment on column collab_store.comments.status is 'Status as received; its set of values is not documented.';
comment on column collab_store.comments.type is 'Type as received; its set of values is not documented.';
comment on column collab_store.comments.author_user_id is 'userId of the comment''s author as received with it.';
comment on column collab_store.comments.author_name is 'Name of the author as received with the comment.';
comment on column collab_store.comments.author_email is 'E-mail of the author as received with the comment.';
comment on column collab_store.comments.comment_text is 'Plain text; null where the service left it out (a voice comment).';
comment on column collab_store.comments.comment_html is 'HTML body as received: never show it unescaped.';
comment on column collab_store.comments.rest is 'Members of the received object that the other columns cannot give back exactly; null when there are none.';
comment on column collab_store.comments.written_at is 'When it was written, by the member of it that says so (the service''s clock); null where none does.';
comment on column collab_store.comments.first_updated is 'last_updated of the first version that is known, where it is not that of now; -infinity where it had none.';
comment on column collab_store.comments.not_before is 'When the last good check of the thread before the one that first saw the comment began: it was not there then. Null where there was none, and where that check may have missed it.';

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
comment on table collab_store.comment_versions is 'Superseded versions only: a comment that never changed has no row here, its one version is in comments.';
comment on column collab_store.comment_versions.comment_id is 'The service''s commentId.';
comment on column collab_store.comment_versions.last_updated is 'lastUpdated of that version (the service''s clock).';
comment on column collab_store.comment_versions.valid_from is 'When a check first saw this version (our clock).';
comment on column collab_store.comment_versions.valid_to is 'When a check first saw the next one (our clock).';
comment on column collab_store.comment_versions.annotation_key is 'The annotation of the comment.';
comment on column collab_store.comment_versions.version is 'Counts from 1.';
comment on column collab_store.comment_versions.change is 'What made this version.';
comment on column collab_store.comment_versions.status is 'Status in this version.';
comment on column collab_store.comment_versions.type is 'Type in this version.';
comment on column collab_store.comment_versions.comment_text is 'Plain text of this version.';
comment on column collab_store.comment_versions.comment_html is 'HTML body of this version.';

create function collab_store.written_at(written_at timestamptz, first_updated timestamptz, last_updated timestamptz)
returns timestamptz
language sql immutable parallel safe
return coalesce(written_at, nullif(coalesce(first_updated, last_updated), '-infinity'));
comment on function collab_store.written_at(timestamptz, timestamptz, timestamptz) is 'When a comment was written, of its three columns: by its own member, else lastUpdated of its first known version.';

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
comment on function collab_store.thread_facts(integer) is 'What is kept of the live comments of one annotation: first and last comment, first answer by somebody else, authors. For the worker.';
