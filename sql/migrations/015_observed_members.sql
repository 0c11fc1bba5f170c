-- Records the fields of the service's records, so that a field that the service adds, omits or changes in type is
-- noticed. Each process counts the records that it reads and writes the counts with a commit: when it meets a new
-- field, after 1,000 records, and at the end of each batch.
create table collab_store.observed_records (
  object text primary key check (object in ('comment', 'user')),
  records bigint not null default 0,
  is_known boolean not null default false
);
comment on table collab_store.observed_records is 'Number of records whose fields were counted.';
comment on column collab_store.observed_records.object is 'Kind of record: comment or user.';
comment on column collab_store.observed_records.records is 'Records read from responses that had changed. If a process is killed, up to 1,000 of its records are not counted.';
comment on column collab_store.observed_records.is_known is 'True once a run has finished with at least 500 records read. Fields that appear later are reported as new.';
insert into collab_store.observed_records (object) values ('comment'), ('user');

-- The number is the only key: erasing a user whose ID is the name of a field can make two paths equal.
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
comment on table collab_store.observed_members is 'Fields of the records that were read, at most 2,000 paths.';
comment on column collab_store.observed_members.number is 'Internal number.';
comment on column collab_store.observed_members.object is 'Kind of record: comment or user.';
comment on column collab_store.observed_members.path is 'Field names from the record down; [] for array elements, * for all keys of an object that has had more than 50 keys, … for names longer than 100 characters.';
comment on column collab_store.observed_members.types is 'JSON types of its values, sorted.';
comment on column collab_store.observed_members.records is 'Records that contained it.';
comment on column collab_store.observed_members.first_seen_at is 'When the first of them was counted.';
comment on column collab_store.observed_members.last_seen_at is 'When the last of them was counted.';
comment on column collab_store.observed_members.first_record is 'observed_records.records before the first of them.';
comment on column collab_store.observed_members.last_record is 'observed_records.records after the last of them.';
comment on column collab_store.observed_members.is_absent is 'True if none of the last 1,000 records contained it, although at least 20 records and one in 50 did before.';

create table sync.member_changes (
  number bigint generated always as identity primary key,
  object text not null check (object in ('comment', 'user')),
  path text[] not null,
  change text not null check (change in ('new', 'absent', 'type')),
  types text[] not null check (types <@ array['array', 'boolean', 'null', 'number', 'object', 'string']),
  noticed_at timestamptz not null default now(),
  notified_at timestamptz
);
comment on table sync.member_changes is 'Fields that the service added, omitted or changed in type; each is recorded once. reporting.observed_members lists the fields in use.';
comment on column sync.member_changes.number is 'Internal number.';
comment on column sync.member_changes.object is 'Kind of record: comment or user.';
comment on column sync.member_changes.path is 'Path of the field from the record down.';
comment on column sync.member_changes.change is 'new, absent (as is_absent of reporting.observed_members), or type: it has a new type.';
comment on column sync.member_changes.types is 'JSON types; for change type, the new ones.';
comment on column sync.member_changes.noticed_at is 'When collab-sync detected it.';
comment on column sync.member_changes.notified_at is 'When a notification was created; null if none was.';

create function collab_store.member_of(path text[]) returns text
language sql immutable
return (
  select string_agg(case when name = '[]' or n = 1 then '' else '.' end
    || case when name not in ('[]', '*', '"[]"', '"*"') and name ~ '^$|[].*"[]' then to_json(name)::text else name end, '' order by n)
  from unnest(path) with ordinality p (name, n)
);
comment on function collab_store.member_of(text[]) is 'Formats a path: names joined by dots. A name that could be misread as a path is quoted.';

create view reporting.observed_members as
select o.object, collab_store.member_of(o.path) as member, o.types, o.records, o.first_seen_at, o.last_seen_at, o.is_absent
from collab_store.observed_members o;
comment on view reporting.observed_members is 'Fields of the comments and users that were read, at most 2,000 paths, with new and absent fields.';
comment on column reporting.observed_members.object is 'Kind of record: comment or user.';
comment on column reporting.observed_members.member is 'Path of at most 20 names joined by dots; [] for array elements, * for the keys of objects with more than 50 different keys, … for names longer than 100 characters, which may be IDs.';
comment on column reporting.observed_members.types is 'JSON types of its values.';
comment on column reporting.observed_members.records is 'Records that contained it, among all records of responses that had changed.';
comment on column reporting.observed_members.first_seen_at is 'When the first record that contained it was counted.';
comment on column reporting.observed_members.last_seen_at is 'When the last record that contained it was counted.';
comment on column reporting.observed_members.is_absent is 'True if none of the last 1,000 records of its kind contained it, although at least 20 records and one in 50 did before.';
