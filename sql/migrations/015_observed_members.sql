-- Up Migration
-- Which members the service's records have, so that one that it adds, leaves out or gives another type is seen. A process
-- counts the records that it reads, and writes the counts with a commit: where a member is new to it, after 1,000 records, and
-- at the end of each batch.
create table collab_store.observed_records (
  object text primary key check (object in ('comment', 'user')),
  records bigint not null default 0,
  is_known boolean not null default false
);
comment on table collab_store.observed_records is 'How many records were read for their members.';
comment on column collab_store.observed_records.object is 'Records of which kind.';
comment on column collab_store.observed_records.records is 'How many records were read, of responses that had changed. A process that is killed leaves up to 1,000 of its own uncounted.';
comment on column collab_store.observed_records.is_known is 'True once a run has ended with at least 500 records read: what comes up later is new.';
insert into collab_store.observed_records (object) values ('comment'), ('user');

-- No key but the number: where a person is erased whose id is the name of a member, two paths may become one.
create table collab_store.observed_members (
  number integer generated always as identity primary key,
  object text not null check (object in ('comment', 'user')),
  path text[] not null,
  types text[] not null check (types <@ array['array', 'boolean', 'null', 'number', 'object', 'string']),
  records bigint not null,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  first_record bigint not null,
  last_record bigint not null,
  is_absent boolean not null default false
);
comment on table collab_store.observed_members is 'Members of records that were read, 2,000 paths at most.';
comment on column collab_store.observed_members.number is 'Counts them.';
comment on column collab_store.observed_members.object is 'Records of which kind.';
comment on column collab_store.observed_members.path is 'Names from the record on; [] for what is in an array, * for all keys of an object that has had more than 50, … for names of more than 100 characters.';
comment on column collab_store.observed_members.types is 'Its JSON types, sorted.';
comment on column collab_store.observed_members.records is 'How many records had it.';
comment on column collab_store.observed_members.first_seen_at is 'When the first of them was counted (our clock).';
comment on column collab_store.observed_members.last_seen_at is 'When the last of them was counted (our clock).';
comment on column collab_store.observed_members.first_record is 'observed_records.records before the first of them.';
comment on column collab_store.observed_members.last_record is 'observed_records.records after the last of them.';
comment on column collab_store.observed_members.is_absent is 'True where the last 1,000 records lacked what one in 50 had before, and at least 20.';

create table sync.member_changes (
  number bigint generated always as identity primary key,
  object text not null check (object in ('comment', 'user')),
  path text[] not null,
  change text not null check (change in ('new', 'absent', 'type')),
  types text[] not null check (types <@ array['array', 'boolean', 'null', 'number', 'object', 'string']),
  noticed_at timestamptz not null default now(),
  told_at timestamptz
);
comment on table sync.member_changes is 'Members that the service has added, left out or given another type, once each. Which are in use: reporting.observed_members.';
comment on column sync.member_changes.number is 'Counts them.';
comment on column sync.member_changes.object is 'Records of which kind: comment or user.';
comment on column sync.member_changes.path is 'The names that lead to the member, from the record on.';
comment on column sync.member_changes.change is 'new: records have it that had not. absent: the last 1,000 records lacked what one in 50 had before, and at least 20. type: it has a type that it never had.';
comment on column sync.member_changes.types is 'Its JSON types: of type the new ones, else all.';
comment on column sync.member_changes.noticed_at is 'When it was noticed (our clock).';
comment on column sync.member_changes.told_at is 'When a message to NOTIFY_URL was noted; null where none was.';

create function collab_store.member_of(path text[]) returns text
language sql immutable
return (
  select string_agg(case when name = '[]' or n = 1 then '' else '.' end
    || case when name not in ('[]', '*', '"[]"', '"*"') and name ~ '^$|[].*"[]' then to_json(name)::text else name end, '' order by n)
  from unnest(path) with ordinality p (name, n)
);
comment on function collab_store.member_of(text[]) is 'A path as it is written: names with dots between. A name that could be read as a path is in quotes.';

create view reporting.observed_members as
select o.object, collab_store.member_of(o.path) as member, o.types, o.records, o.first_seen_at, o.last_seen_at, o.is_absent
from collab_store.observed_members o;
comment on view reporting.observed_members is 'Each member of the comments and users that were read, 2,000 paths at most; which members does the service send, and is one new, gone or of another type?';
comment on column reporting.observed_members.object is 'comment or user.';
comment on column reporting.observed_members.member is 'Its path: names with dots between, [] for what is in an array, * for the keys of an object that has had more than 50 different ones. 20 levels at most. Names of more than 100 characters are …, since they may be ids.';
comment on column reporting.observed_members.types is 'The JSON types that it has had: string, number, boolean, object, array, null.';
comment on column reporting.observed_members.records is 'How many records had it, among those of responses that had changed since they were read before: all records of such a response count, stored or not. Keys that became one path count from then on.';
comment on column reporting.observed_members.first_seen_at is 'When the first record that had it was counted (our clock).';
comment on column reporting.observed_members.last_seen_at is 'When the last record that had it was counted (our clock).';
comment on column reporting.observed_members.is_absent is 'True where the last 1,000 records of its kind lacked it, though one in 50 had it before, and at least 20.';
