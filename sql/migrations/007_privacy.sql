-- Erasures, so that no sync stores an erased person again. An erasure is registered first; from then on everything
-- read is redacted. Then the stored data is rewritten in chunks while runs continue. Until it finishes, its row says
-- so and has the values to search for.
create table sync.erasures (
  erasure_id bigint generated always as identity primary key,
  erased_at timestamptz not null default now(),
  users bigint not null default 0,
  comments bigint not null default 0,
  comment_versions bigint not null default 0,
  memberships bigint not null default 0,
  mentions_in_records bigint not null default 0,
  rejected_records bigint not null default 0,
  messages bigint not null default 0,
  held bigint not null default 0,
  scopes bigint not null default 0,
  mentions_left bigint not null default 0,
  organization_id text collate "C",
  pseudonym text not null,
  email_hashes text[] not null default '{}',
  reason text not null,
  erased_by text not null default session_user,
  name_hashes text[] not null default '{}',
  identity jsonb,
  finished_at timestamptz,
  user_versions bigint not null default 0
);
alter table sync.erasures alter column identity set statistics 0; -- the planner keeps no samples of it
comment on table sync.erasures is 'Proof of every erasure, without the person''s data. Also prevents later syncs from storing the person again: do not delete rows.';
comment on column sync.erasures.erasure_id is 'Number of the erasure, by which workers notice a new one.';
comment on column sync.erasures.erased_at is 'When it was registered. Data is redacted from then on.';
comment on column sync.erasures.users is 'Rows of collab.users of the person that were emptied, one per organization.';
comment on column sync.erasures.comments is 'Emptied comments by the person, including deleted ones.';
comment on column sync.erasures.comment_versions is 'Earlier versions of comments that were emptied, or in which an ID or address was replaced.';
comment on column sync.erasures.memberships is 'Memberships, including past stays, that now have the pseudonym.';
comment on column sync.erasures.mentions_in_records is 'Records of other people in which an ID, address or name of the person was replaced.';
comment on column sync.erasures.rejected_records is 'Rows of sync.rejected_records in which the person was replaced.';
comment on column sync.erasures.messages is 'Other rows, such as failures, notifications and jobs, in which an ID or address was replaced.';
comment on column sync.erasures.held is 'Rows of sync.held whose list of users now has the pseudonym.';
comment on column sync.erasures.scopes is 'Runs in whose scope or problem an ID or address was replaced.';
comment on column sync.erasures.mentions_left is 'Comments of other people whose text contains a name of the person or a namesake, left unchanged.';
comment on column sync.erasures.organization_id is 'Organization to which the erasure is limited; null for all, including later ones.';
comment on column sync.erasures.pseudonym is 'Replacement for the user ID or, without one, the address: a salted hash of it.';
comment on column sync.erasures.email_hashes is 'Salted hashes of the person''s known e-mail addresses, which later syncs redact.';
comment on column sync.erasures.reason is 'Reason that the operator gave.';
comment on column sync.erasures.erased_by is 'PostgreSQL role that did it.';
comment on column sync.erasures.name_hashes is 'Salted hashes of the person''s known names.';
comment on column sync.erasures.identity is 'User ID, names and e-mail addresses to search for; null once finished_at is set.';
comment on column sync.erasures.finished_at is 'When all stored data was rewritten; null while in progress or interrupted, in which case the erasure can be repeated.';
comment on column sync.erasures.user_versions is 'Earlier versions of users that were emptied or changed likewise.';

create table sync.privacy (
  only_row boolean primary key default true check (only_row),
  salt bytea not null
);
comment on table sync.privacy is 'The secret of this database for pseudonyms, hashes and the key of the sessions of serve.';
comment on column sync.privacy.only_row is 'Ensures that there is one row.';
comment on column sync.privacy.salt is 'Allows testing guesses against the hashes; collab_reader cannot read it. If it is replaced, later syncs store erased people again.';
insert into sync.privacy (salt)
values (decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));

-- The feed of changes. Each statement that changes what a view of schema collab shows adds one packed row per kind of
-- change, with keys only. Triggers do this, so that no writer can omit it; unchanged rows are excluded
-- (docs/decisions/2026-11-23-feed-of-changes.md).

-- The log identifies people by a keyed hash of their ID, which may stay when a person is erased.
create function collab_store.person_of(salt bytea, user_id text) returns uuid
language sql immutable
as $$ select encode(substr(sha256(salt || convert_to('person:' || user_id, 'UTF8')), 1, 16), 'hex')::uuid $$;
comment on function collab_store.person_of(bytea, text) is 'Returns the keyed hash of a user ID, which identifies the person in the feed of changes. Useless without the salt of sync.privacy.';

create function collab_store.set_person() returns trigger
language plpgsql
as $$
begin
  new.person := collab_store.person_of((select salt from sync.privacy), new.user_id);
  return new;
end
$$;
comment on function collab_store.set_person() is 'Fills users.person. For the trigger of users.';

create trigger set_person before insert or update of user_id on collab_store.users
for each row execute function collab_store.set_person();
comment on trigger set_person on collab_store.users is 'Fills person.';
