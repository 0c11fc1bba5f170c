-- Users and their memberships. Memberships contain the service's user ID, so that they do not depend on rows of
-- users.
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
comment on table collab_store.users is 'One row per user and organization: from the organization''s own listing, from the listing of a document or user group, or as author of a comment.';
comment on column collab_store.users.organization_key is 'The organization in which the user was seen.';
comment on column collab_store.users.source is 'Source of name and e-mail address: 3 the organization''s listing or a request for this user, 2 the listing of a document or user group, 1 author of a comment. A lower source never overwrites a higher one.';
comment on column collab_store.users.listed is 'Whether the organization''s own listing contains the user.';
comment on column collab_store.users.first_seen_at is 'When collab-sync first received the user in this organization.';
comment on column collab_store.users.changed_at is 'When a check last changed this row.';
comment on column collab_store.users.removed_at is 'When the organization''s listing first no longer contained the user; null while listed, and for users never listed.';
comment on column collab_store.users.source_at is 'For source 1: lastUpdated of the comment with this name, so that the newest comment wins.';
comment on column collab_store.users.digest is 'Digest of the record as received, with sorted keys.';
comment on column collab_store.users.user_id is 'The service''s userId.';
comment on column collab_store.users.name is 'Name as last received; null if the service sent none.';
comment on column collab_store.users.email is 'E-mail address as last received; null if the service sent none.';
comment on column collab_store.users.rest is 'Fields of the received object that the other columns cannot reproduce exactly; null if there are none.';
comment on column collab_store.users.version is 'Number of the current version, from 1; null means 1. user_versions has the earlier ones.';
comment on column collab_store.users.version_at is 'When a check first received the current name, e-mail address and listing; null if at first_seen_at.';
comment on column collab_store.users.change is 'What created the current version; null for the first one and if unknown.';
comment on column collab_store.users.person is 'Keyed hash of user_id, which identifies the user in the feed of changes.';

-- Versions of users: name, e-mail address and whether the organization listed them, at any time. As with comments,
-- the current version is in the row itself, and only superseded versions have rows of their own. A user who never
-- changed needs no space: these columns of users are null.
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
comment on table collab_store.user_versions is 'Superseded versions of users. A user who never changed has no row here.';
comment on column collab_store.user_versions.organization_key is 'The organization in which the user was seen.';
comment on column collab_store.user_versions.version is 'Number of the version, from 1.';
comment on column collab_store.user_versions.valid_from is 'When a check first received this version.';
comment on column collab_store.user_versions.valid_to is 'When a check first received the next version.';
comment on column collab_store.user_versions.removed_at is 'removed_at of users in this version.';
comment on column collab_store.user_versions.listed is 'Whether the organization''s own listing contained the user.';
comment on column collab_store.user_versions.change is 'What created this version; null if unknown.';
comment on column collab_store.user_versions.user_id is 'The service''s userId.';
comment on column collab_store.user_versions.name is 'Name in this version.';
comment on column collab_store.user_versions.email is 'E-mail address in this version; null also if PRIVACY_EMAIL excludes it.';

create table collab_store.document_users (
  document_key integer not null references collab_store.documents,
  first_seen_at timestamptz not null,
  joined_at timestamptz not null,
  removed_at timestamptz,
  user_id text collate "C" not null,
  primary key (document_key, user_id)
);
comment on table collab_store.document_users is 'Current and past users of documents'' listings.';
comment on column collab_store.document_users.document_key is 'The document of the listing.';
comment on column collab_store.document_users.first_seen_at is 'When a check first found the user in it.';
comment on column collab_store.document_users.joined_at is 'Start of the current or last stay. Later than first_seen_at if the user returned.';
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
comment on table collab_store.user_group_members is 'Current and past members of user groups'' listings.';
comment on column collab_store.user_group_members.user_group_key is 'The user group of the listing.';
comment on column collab_store.user_group_members.first_seen_at is 'When a check first found the user in it.';
comment on column collab_store.user_group_members.joined_at is 'Start of the current or last stay.';
comment on column collab_store.user_group_members.removed_at is 'When a check first no longer found the user; null for current members.';
comment on column collab_store.user_group_members.user_id is 'The service''s userId.';

create table collab_store.past_memberships (
  document_key integer references collab_store.documents,
  user_group_key integer references collab_store.user_groups,
  joined_at timestamptz not null,
  removed_at timestamptz not null,
  user_id text collate "C" not null,
  stay_id bigint generated always as identity primary key, -- publications replicate deletions only of tables with a key
  check (num_nonnulls(document_key, user_group_key) = 1)
);
create index on collab_store.past_memberships (document_key, user_id) where document_key is not null;
create index on collab_store.past_memberships (user_group_key, user_id) where user_group_key is not null;
comment on table collab_store.past_memberships is 'Earlier stays of users who left a document or user group and returned. The current stay is in document_users or user_group_members.';
comment on column collab_store.past_memberships.document_key is 'The document; null for a user group.';
comment on column collab_store.past_memberships.user_group_key is 'The user group; null for a document.';
comment on column collab_store.past_memberships.joined_at is 'Start of the stay.';
comment on column collab_store.past_memberships.removed_at is 'End of the stay.';
comment on column collab_store.past_memberships.user_id is 'The service''s userId.';
comment on column collab_store.past_memberships.stay_id is 'Internal number.';
