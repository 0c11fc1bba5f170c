-- Up Migration
-- People, and where they belong. Memberships name the user by the service's id, so they never wait for a row of users.

create table collab_store.users (
  organization_key integer not null references collab_store.organizations,
  source smallint not null,
  listed boolean not null,
  first_seen_at timestamptz not null,
  changed_at timestamptz not null,
  removed_at timestamptz,
  source_at timestamptz,
  digest bytea not null,
  user_id text not null,
  name text,
  email text,
  rest jsonb,
  primary key (organization_key, user_id)
);
comment on table collab_store.users is 'One row a person and organization: from the organization''s own listing, or else from a document''s or group''s listing, or else as author of a comment.';
comment on column collab_store.users.organization_key is 'The organization in which the person was seen.';
comment on column collab_store.users.source is 'What the name and e-mail come from: 3 the organization''s listing or a direct answer about the user, 2 a document''s or group''s listing, 1 an author of a comment. A lower one never overwrites a higher.';
comment on column collab_store.users.listed is 'True while the organization''s own listing holds the user.';
comment on column collab_store.users.first_seen_at is 'When a check first saw the person here (our clock).';
comment on column collab_store.users.changed_at is 'When a check last found anything in this row changed (our clock).';
comment on column collab_store.users.removed_at is 'When the organization''s listing first lacked a person who had been in it; null while listed, and for those never listed.';
comment on column collab_store.users.source_at is 'For source 1: lastUpdated of the comment the name was taken from, so that the newest one wins.';
comment on column collab_store.users.digest is 'Digest of the record as received, with its keys sorted.';
comment on column collab_store.users.user_id is 'The service''s userId.';
comment on column collab_store.users.name is 'Name as last received; null where the service left it out.';
comment on column collab_store.users.email is 'E-mail as last received; null where the service left it out.';
comment on column collab_store.users.rest is 'Members of the received object that the other columns cannot give back exactly; null when there are none.';

create table collab_store.document_users (
  document_key integer not null references collab_store.documents,
  first_seen_at timestamptz not null,
  joined_at timestamptz not null,
  removed_at timestamptz,
  user_id text not null,
  primary key (document_key, user_id)
);
comment on table collab_store.document_users is 'Who is, or was, in a document''s listing.';
comment on column collab_store.document_users.document_key is 'Whose listing it is: a row of documents.';
comment on column collab_store.document_users.first_seen_at is 'When a check first saw the user in it.';
comment on column collab_store.document_users.joined_at is 'When the present (or last) stay began: later than first_seen_at for one who came back.';
comment on column collab_store.document_users.removed_at is 'When a check first found the user gone; null while in it.';
comment on column collab_store.document_users.user_id is 'The service''s userId.';

create table collab_store.user_group_members (
  user_group_key integer not null references collab_store.user_groups,
  first_seen_at timestamptz not null,
  joined_at timestamptz not null,
  removed_at timestamptz,
  user_id text not null,
  primary key (user_group_key, user_id)
);
comment on table collab_store.user_group_members is 'Who is, or was, in a user group''s listing.';
comment on column collab_store.user_group_members.user_group_key is 'Whose listing it is: a row of user_groups.';
comment on column collab_store.user_group_members.first_seen_at is 'When a check first saw the user in it.';
comment on column collab_store.user_group_members.joined_at is 'When the present (or last) stay began.';
comment on column collab_store.user_group_members.removed_at is 'When a check first found the user gone; null while in it.';
comment on column collab_store.user_group_members.user_id is 'The service''s userId.';

create table collab_store.past_memberships (
  document_key integer references collab_store.documents,
  user_group_key integer references collab_store.user_groups,
  joined_at timestamptz not null,
  removed_at timestamptz not null,
  user_id text not null,
  check (num_nonnulls(document_key, user_group_key) = 1)
);
create index on collab_store.past_memberships (document_key, user_id) where document_key is not null;
create index on collab_store.past_memberships (user_group_key, user_id) where user_group_key is not null;
comment on table collab_store.past_memberships is 'Earlier stays of users who left a document or group and came back; the present stay is in document_users or user_group_members.';
comment on column collab_store.past_memberships.document_key is 'The document, or null for a group.';
comment on column collab_store.past_memberships.user_group_key is 'The group, or null for a document.';
comment on column collab_store.past_memberships.joined_at is 'When that stay began.';
comment on column collab_store.past_memberships.removed_at is 'When that stay ended.';
comment on column collab_store.past_memberships.user_id is 'The service''s userId.';
