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
  user_id text collate "C" not null,
  name text,
  email text,
  rest jsonb,
  version integer,
  version_at timestamptz,
  change text check (change in ('edited', 'listed', 'removed', 'restored')),
  person uuid not null,
  primary key (organization_key, user_id)
);
create index users_person on collab_store.users (organization_key, person);
comment on table collab_store.users is 'One row a person and organization: from the organization''s own listing, or else from a document''s or group''s listing, or else as author of a comment.';
comment on column collab_store.users.organization_key is 'The organization in which the person was seen.';
comment on column collab_store.users.source is 'What the name and e-mail come from: 3 the organization''s listing or a direct answer about the user, 2 a document''s or group''s listing, 1 an author of a comment. A lower one never overwrites a higher.';
comment on column collab_store.users.listed is 'True while the organization''s own listing holds the user.';
comment on column collab_store.users.first_seen_at is 'When a check first saw the person here (our clock).';
comment on column collab_store.users.changed_at is 'When a check last changed this row.';
comment on column collab_store.users.removed_at is 'When the organization''s listing first lacked a person who had been in it; null while listed, and for those never listed.';
comment on column collab_store.users.source_at is 'For source 1: lastUpdated of the comment the name was taken from, so that the newest one wins.';
comment on column collab_store.users.digest is 'Digest of the record as received, with its keys sorted.';
comment on column collab_store.users.user_id is 'The service''s userId.';
comment on column collab_store.users.name is 'Name as last received; null if the service sent none.';
comment on column collab_store.users.email is 'E-mail as last received; null where the service left it out.';
comment on column collab_store.users.rest is 'Members of the received object that the other columns cannot give back exactly; null when there are none.';
comment on column collab_store.users.version is 'Number of the current version, from 1; null for 1. Earlier ones are in user_versions.';
comment on column collab_store.users.version_at is 'When a check first saw the current name, e-mail and listing (our clock); null where that was first_seen_at.';
comment on column collab_store.users.change is 'What made the current version; null for the first one, and where it is not known.';
comment on column collab_store.users.person is 'Keyed hash of user_id: what the feed of changes names the person by.';

-- Versions of people: how somebody was called, under which address, and whether the organization listed them, at any time.
-- As with comments, the current version is in the row itself and only superseded ones have rows of their own, so that who
-- never changed costs nothing: the columns of users are null for them.
create table collab_store.user_versions (
  organization_key integer not null references collab_store.organizations,
  version integer not null,
  valid_from timestamptz not null,
  valid_to timestamptz not null,
  removed_at timestamptz,
  listed boolean not null,
  change text check (change in ('added', 'edited', 'listed', 'removed', 'restored')),
  user_id text collate "C" not null,
  name text,
  email text,
  primary key (organization_key, user_id, version)
);
comment on table collab_store.user_versions is 'Superseded versions of people only: who never changed has no row here, their one version is in users.';
comment on column collab_store.user_versions.organization_key is 'The organization in which the person was seen.';
comment on column collab_store.user_versions.version is 'Counts from 1.';
comment on column collab_store.user_versions.valid_from is 'When a check first saw this version (our clock).';
comment on column collab_store.user_versions.valid_to is 'When a check first saw the next one (our clock).';
comment on column collab_store.user_versions.removed_at is 'removed_at of users in this version.';
comment on column collab_store.user_versions.listed is 'Whether the organization''s own listing contained the user.';
comment on column collab_store.user_versions.change is 'What made this version; null where that is not known.';
comment on column collab_store.user_versions.user_id is 'The service''s userId.';
comment on column collab_store.user_versions.name is 'Name in this version.';
comment on column collab_store.user_versions.email is 'E-mail in this version; null also where PRIVACY_EMAIL does not keep it.';

create table collab_store.document_users (
  document_key integer not null references collab_store.documents,
  first_seen_at timestamptz not null,
  joined_at timestamptz not null,
  removed_at timestamptz,
  user_id text collate "C" not null,
  primary key (document_key, user_id)
);
comment on table collab_store.document_users is 'Who is, or was, in a document''s listing.';
comment on column collab_store.document_users.document_key is 'Whose listing it is: a row of documents.';
comment on column collab_store.document_users.first_seen_at is 'When a check first saw the user in it.';
comment on column collab_store.document_users.joined_at is 'When the present (or last) stay began: later than first_seen_at for one who came back.';
comment on column collab_store.document_users.removed_at is 'When a check first no longer found the user; null for current members.';
comment on column collab_store.document_users.user_id is 'The service''s userId.';

create table collab_store.user_group_members (
  user_group_key integer not null references collab_store.user_groups,
  first_seen_at timestamptz not null,
  joined_at timestamptz not null,
  removed_at timestamptz,
  user_id text collate "C" not null,
  primary key (user_group_key, user_id)
);
comment on table collab_store.user_group_members is 'Who is, or was, in a user group''s listing.';
comment on column collab_store.user_group_members.user_group_key is 'Whose listing it is: a row of user_groups.';
comment on column collab_store.user_group_members.first_seen_at is 'When a check first saw the user in it.';
comment on column collab_store.user_group_members.joined_at is 'When the present (or last) stay began.';
comment on column collab_store.user_group_members.removed_at is 'When a check first no longer found the user; null for current members.';
comment on column collab_store.user_group_members.user_id is 'The service''s userId.';

create table collab_store.past_memberships (
  document_key integer references collab_store.documents,
  user_group_key integer references collab_store.user_groups,
  joined_at timestamptz not null,
  removed_at timestamptz not null,
  user_id text collate "C" not null,
  stay_id bigint generated always as identity primary key, -- publications take deletions only of tables with a key
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
comment on column collab_store.past_memberships.stay_id is 'Counts them.';
