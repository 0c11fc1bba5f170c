-- Up Migration
-- Who was erased, so that no sync brings a person back. An erasure is registered first, so that everything read from then
-- on is redacted, and then rewrites what is stored piece by piece while runs go on. Until it has ended its row says so, and
-- holds what to look for.
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
comment on table sync.erasures is 'Proof of every erasure, without the person: what was emptied, when, why and by whom. It also keeps later syncs from bringing the person back: do not delete its rows.';
comment on column sync.erasures.erasure_id is 'Counts erasures; workers notice a new one by it.';
comment on column sync.erasures.erased_at is 'When it was registered: what workers read from then on is redacted before it is compared or stored.';
comment on column sync.erasures.users is 'Rows of collab.users that were the person and were emptied: one an organization.';
comment on column sync.erasures.comments is 'Comments by the person, deleted ones too, whose text, HTML, author and further members were emptied.';
comment on column sync.erasures.comment_versions is 'Earlier versions of comments that were emptied, or in which an id or address was replaced.';
comment on column sync.erasures.memberships is 'Rows of documents'' and groups'' listings, past stays too, that now carry the pseudonym.';
comment on column sync.erasures.mentions_in_records is 'Records of others in which an id, address or name of the person was replaced.';
comment on column sync.erasures.rejected_records is 'Rows of sync.rejected_records in which the person was replaced.';
comment on column sync.erasures.messages is 'Further rows, of failures, observed errors, notifications and the queue say, in which an id or address was replaced.';
comment on column sync.erasures.held is 'Rows of sync.held in whose list of users the pseudonym now stands.';
comment on column sync.erasures.scopes is 'Runs in whose scope or problem an id or address was replaced.';
comment on column sync.erasures.mentions_left is 'Comments of others whose words hold a name of the person, or of somebody called the same: these are other people''s words and were left.';
comment on column sync.erasures.organization_id is 'The organization the erasure was narrowed to; null for all, also those that come later.';
comment on column sync.erasures.pseudonym is 'What now stands for the user id, or for the address where there is none: a salted hash of it.';
comment on column sync.erasures.email_hashes is 'Salted hashes of the e-mail addresses that were known of the person: they tell these in whatever the service says.';
comment on column sync.erasures.reason is 'Why, in the operator''s words.';
comment on column sync.erasures.erased_by is 'The PostgreSQL role that did it.';
comment on column sync.erasures.name_hashes is 'Salted hashes of the names that were known of the person: they tell a name beside an id or address of theirs.';
comment on column sync.erasures.identity is 'The user id, names and e-mail addresses that are still being looked for; null once finished_at is set.';
comment on column sync.erasures.finished_at is 'When everything stored before was rewritten; null while that is under way, or where it was interrupted: erase again, which goes on.';
comment on column sync.erasures.user_versions is 'Earlier versions of users that were emptied, or in which an id or address was replaced.';

create table sync.privacy (
  only_row boolean primary key default true check (only_row),
  salt bytea not null
);
comment on table sync.privacy is 'The secret of this database that pseudonyms and hashed e-mail addresses are made with.';
comment on column sync.privacy.only_row is 'There is just one row.';
comment on column sync.privacy.salt is 'Whoever knows it can test guesses against the hashes: readers of collab and reporting cannot see it. Replacing it brings erased people back.';
insert into sync.privacy (salt)
values (decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));

-- The feed of changes. Each statement that changes what a view of schema collab shows adds a packed row a kind of change:
-- keys only, no content. Triggers do it, so that no writer can forget it, and rows that did not change are left out
-- (docs/decisions).

-- People are named in the log by a keyed hash of their id: it may stay when a person is erased.
create function collab_store.person_of(salt bytea, user_id text) returns uuid
language sql immutable
as $$ select encode(substr(sha256(salt || convert_to('person:' || user_id, 'UTF8')), 1, 16), 'hex')::uuid $$;
comment on function collab_store.person_of(bytea, text) is 'The keyed hash of a user id that the feed of changes names a person by. Of no use without the salt of sync.privacy.';

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
