-- Up Migration
-- Comments as of the last check, and their superseded versions. Fixed-width columns first: no padding between them.
-- No foreign key to annotations: its check and row lock would cost every insert about a fifth, and the key can only
-- come from the claimed scope (docs/decisions).

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
  day date generated always as ((last_updated at time zone 'UTC')::date) stored,
  digest bytea not null,
  change text not null check (change in ('added', 'edited', 'deleted', 'restored')),
  status text,
  type text,
  author_user_id text,
  author_name text,
  author_email text,
  comment_text text,
  comment_html text,
  rest jsonb,
  primary key (annotation_key, comment_id)
);
comment on table collab_store.comments is 'One row a comment, deleted ones too, with the current version''s content.';
comment on column collab_store.comments.comment_id is 'The service''s commentId, unique within its annotation.';
comment on column collab_store.comments.last_updated is 'lastUpdated of the service (the service''s clock).';
comment on column collab_store.comments.first_seen_at is 'When a check first saw the comment (our clock).';
comment on column collab_store.comments.changed_at is 'When a check last found anything in this row changed (our clock).';
comment on column collab_store.comments.version_at is 'When a check first saw the current version (our clock).';
comment on column collab_store.comments.deleted_at is 'When the service answered null for this comment''s id; null while it is live.';
comment on column collab_store.comments.organization_key is 'The organization of the annotation''s document, here as well because reports count by it without asking the catalog (docs/decisions).';
comment on column collab_store.comments.day is 'Day in UTC of last_updated; PostgreSQL fills it in.';
comment on column collab_store.comments.annotation_key is 'The annotation whose scope was asked.';
comment on column collab_store.comments.version is 'Number of the current version, from 1; earlier ones are in comment_versions.';
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
