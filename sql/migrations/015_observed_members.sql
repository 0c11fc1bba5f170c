-- Up Migration
-- Which members the service's records have, so that one that it adds, leaves out or gives another type is seen. They are
-- counted from the feed of changes, behind the commits: an answer costs nothing more for it, whoever wrote a change is
-- counted, and each change is counted once, since the cursor moves in the transaction that counts.
create table collab_store.observed_records (
  object text primary key check (object in ('comment', 'user')),
  records bigint not null default 0,
  is_known boolean not null default false,
  cursor text check (cursor ~ '^[0-9a-f-]+$')
);
comment on table collab_store.observed_records is 'Up to where changed records were looked through for their members.';
comment on column collab_store.observed_records.object is 'Records of which kind.';
comment on column collab_store.observed_records.records is 'How many changed records were looked at.';
comment on column collab_store.observed_records.is_known is 'True once the changes were read to their end with at least 500 records: what comes up later is new.';
comment on column collab_store.observed_records.cursor is 'Where reporting.changes() goes on from; the same for both.';
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
comment on table collab_store.observed_members is 'Members of changed records, 2,000 paths at most.';
comment on column collab_store.observed_members.number is 'Counts them.';
comment on column collab_store.observed_members.object is 'Records of which kind.';
comment on column collab_store.observed_members.path is 'Names from the record on; [] for what is in an array, * for all keys of an object that has had more than 50, … for names of more than 100 characters.';
comment on column collab_store.observed_members.types is 'Its JSON types, sorted.';
comment on column collab_store.observed_members.records is 'How many changed records had it.';
comment on column collab_store.observed_members.first_seen_at is 'When the first of them was stored (our clock).';
comment on column collab_store.observed_members.last_seen_at is 'When the last of them was stored (our clock).';
comment on column collab_store.observed_members.first_record is 'observed_records.records before the first of them.';
comment on column collab_store.observed_members.last_record is 'observed_records.records after the last of them.';
comment on column collab_store.observed_members.is_absent is 'True where the last 1,000 changed records lacked what one in 50 had before, and at least 20.';

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
comment on column sync.member_changes.change is 'new: records have it that had not. absent: the last 1,000 changed records lacked what one in 50 had before, and at least 20. type: it has a type that it never had.';
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
comment on view reporting.observed_members is 'Each member that changed records of comments and users have had, 2,000 paths at most; which members does the service send, and is one new, gone or of another type?';
comment on column reporting.observed_members.object is 'comment or user.';
comment on column reporting.observed_members.member is 'Its path: names with dots between, [] for what is in an array, * for the keys of an object that has had more than 50 different ones. Of a record of more than 100 kB, and of what is beyond 4 MB in one step, only its own members are looked at, of others 20 levels. Names of more than 100 characters are …, since they may be ids.';
comment on column reporting.observed_members.types is 'The JSON types that it has had: string, number, boolean, object, array, null.';
comment on column reporting.observed_members.records is 'How many changes of records showed it: each counts the record as it is when it is looked at. Keys that became one path count as the commonest of them did until then.';
comment on column reporting.observed_members.first_seen_at is 'When the first changed record that had it was stored (our clock).';
comment on column reporting.observed_members.last_seen_at is 'When the last changed record that had it was stored (our clock).';
comment on column reporting.observed_members.is_absent is 'True where the last 1,000 changed records of its kind lacked it, though one in 50 had it before, and at least 20.';

create function collab_store.observe_page(max_changes integer) returns boolean
language plpgsql
as $$
declare
  after text;
  page record;
  -- Objects whose keys are one path, as kind and path, and those that became one just now.
  crowded text[] := array(select o.object || o.path[:cardinality(o.path) - 1]::text
    from collab_store.observed_members o where o.path[cardinality(o.path)] = '*');
  crowded_before constant integer := cardinality(crowded);
begin
  select r.cursor into after from collab_store.observed_records r where r.object = 'comment';
  loop
    begin
      with recursive changes as materialized (
        -- Of none of them the row is made where one is passed over: that may be what fails.
        select c.* from reporting.changes(after, greatest(max_changes, 1),
          case when max_changes > 0 then array['comment', 'user'] else '{}' end) c
      ), records as materialized (
        -- Of a very large one, and of what is beyond 4 MB in a page, only their own members: what is nested may be a
        -- million values.
        select row_number() over changes_order as n, c.object, c.at, c."row" -> 'raw' as raw,
          case when pg_column_size(c."row" -> 'raw') > 100000 or sum(pg_column_size(c."row" -> 'raw')) over changes_order > 4000000
            then 1 else 20 end as depth
        from changes c
        where c.change in ('added', 'edited', 'restored') and c."row" is not null
        window changes_order as (rows unbounded preceding)
      ), members as (
        select r.n, r.object, r.at, r.depth, '{}'::text[] as path, r.raw as value from records r
        union all
        select m.n, m.object, m.at, m.depth, m.path || c.name, c.value
        from members m
        cross join lateral (
          -- One with more than 50 keys of its own has more than 450 bytes. Their paths are never made.
          select m.object || m.path::text = any(crowded) or pg_column_size(m.value) > 450 and jsonb_typeof(m.value) = 'object'
            and (select count(*) from jsonb_object_keys(case jsonb_typeof(m.value) when 'object' then m.value else '{}' end)) > 50 as is_crowded
        ) k
        cross join lateral (
          -- A name of ours in a record is written as it is shown. A long one may be the beginning of an id.
          select case when e.key in ('*', '[]') then to_json(e.key)::text when length(e.key) > 100 then '…' else e.key end as name, e.value
          from jsonb_each(case when jsonb_typeof(m.value) = 'object' and not k.is_crowded then m.value else '{}' end) e
          union all
          -- Of the plain values that have one path, one of each type. Where there are none, nothing is sorted.
          select u.name, u.value
          from (
            select distinct on (v.type, v.place) v.name, v.value
            from (
              select '*' as name, o.value, jsonb_typeof(o.value) as type,
                case when jsonb_typeof(o.value) in ('object', 'array') then o.ordinality end as place
              from jsonb_each(case when jsonb_typeof(m.value) = 'object' and k.is_crowded then m.value else '{}' end) with ordinality o
              union all
              select '[]', a.value, jsonb_typeof(a.value),
                case when jsonb_typeof(a.value) in ('object', 'array') then a.ordinality end
              from jsonb_array_elements(case jsonb_typeof(m.value) when 'array' then m.value else '[]' end) with ordinality a
            ) v
          ) u
          where k.is_crowded or jsonb_typeof(m.value) = 'array'
        ) c
        where jsonb_typeof(m.value) in ('object', 'array') and cardinality(m.path) < m.depth
      ), counted as materialized (
        select object, path, array_agg(distinct jsonb_typeof(value) order by jsonb_typeof(value)) as types,
          count(distinct n) as records, min(at) as first_at, max(at) as last_at
        from members
        where path <> '{}'
        group by 1, 2
      ), crowded_now as (
        select k.object || k.parent::text as parent
        from (
          select o.object, o.path[:cardinality(o.path) - 1] as parent, o.path[cardinality(o.path)] as name from collab_store.observed_members o
          union
          select c.object, c.path[:cardinality(c.path) - 1], c.path[cardinality(c.path)] from counted c
        ) k
        where k.name <> '[]'
        group by 1
        having count(*) > 50 or bool_or(k.name = '*') and not k.object || k.parent::text = any(crowded)
      )
      select (select max(c.cursor) from changes c where c.object is null) as cursor,
        (select bool_or(c.change = 'more') from changes c where c.object is null) as has_more,
        (select count(*) from records r where r.object = 'comment') as comments,
        (select count(*) from records r where r.object = 'user') as users,
        array(select parent from crowded_now) as crowded_now,
        -- Those that are known, 2,000 at most, and as many as may come to them.
        (select coalesce(jsonb_agg(to_jsonb(c)), '[]')
        from (
          select c.* from counted c
          where not exists (select from crowded_now)
          order by (c.object, c.path) in (select o.object, o.path from collab_store.observed_members o) desc, c.records desc, c.path
          limit 4000
        ) c) as members
      into page;
    exception
      -- Another server took over, or prune came first: what was not looked at stays uncounted.
      when sqlstate 'CS410' then
        after := reporting.changes_cursor();
        continue;
    end;
    exit when cardinality(page.crowded_now) = 0;
    -- Their keys may be ids: none of them stays.
    crowded := crowded || page.crowded_now;
    delete from sync.member_changes n
    where exists (select from generate_series(0, cardinality(n.path) - 1) d where n.object || n.path[:d]::text = any(page.crowded_now));
    with gone as (
      delete from collab_store.observed_members o
      where exists (select from generate_series(0, cardinality(o.path) - 1) d where o.object || o.path[:d]::text = any(page.crowded_now)
        and o.path[d + 1] <> '[]')
      returning o.*
    )
    insert into collab_store.observed_members (object, path, types, records, first_seen_at, last_seen_at, first_record, last_record)
    select g.object, g.parent || '*'::text, array(select distinct u from gone x, unnest(x.types) u
        where x.object = g.object and x.path[:cardinality(x.path) - 1] = g.parent order by 1),
      max(g.records), min(g.first_seen_at), max(g.last_seen_at), min(g.first_record), max(g.last_record)
    from (select x.*, x.path[:cardinality(x.path) - 1] as parent from gone x) g
    where g.object || g.parent::text = any(page.crowded_now)
    group by g.object, g.parent;
  end loop;
  with seen as (
    update collab_store.observed_records r
    set records = r.records + case r.object when 'comment' then page.comments else page.users end, cursor = page.cursor
    returning r.object, r.records, r.is_known, r.records - case r.object when 'comment' then page.comments else page.users end as before
  ), found as (
    select c.*, s.records as total, s.before, s.is_known, k.number, k.types as known_types
    from jsonb_to_recordset(page.members) c (object text, path text[], types text[], records bigint,
      first_at timestamptz, last_at timestamptz)
    join seen s using (object)
    left join (
      select distinct on (o.object, o.path) o.object, o.path, o.number, o.types
      from collab_store.observed_members o
      order by o.object, o.path, o.number
    ) k using (object, path)
  ), updated as (
    update collab_store.observed_members o
    set types = array(select distinct unnest(o.types || f.types) order by 1), records = o.records + f.records,
      first_seen_at = least(o.first_seen_at, f.first_at), last_seen_at = greatest(o.last_seen_at, f.last_at),
      last_record = f.total, is_absent = false
    from found f
    where o.number = f.number
  ), inserted as (
    insert into collab_store.observed_members (object, path, types, records, first_seen_at, last_seen_at, first_record, last_record)
    select f.object, f.path, f.types, f.records, f.first_at, f.last_at, f.before, f.total
    from found f
    where f.number is null
    order by f.records desc, f.path
    limit (select greatest(0, 2000 - count(*)) from collab_store.observed_members)
    returning object, path, types
  )
  insert into sync.member_changes (object, path, change, types)
  -- What is in a new object is new with it, and what became one path is known.
  select i.object, i.path, 'new', i.types
  from inserted i
  join seen s using (object)
  where s.is_known and not exists (select from inserted p where (p.object, p.path) = (i.object, i.path[:cardinality(i.path) - 1]))
    and not exists (select from generate_series(0, cardinality(i.path) - 1) d
      where i.object || i.path[:d]::text = any(crowded[crowded_before + 1:]))
  union all
  select f.object, f.path, 'type', t.types
  from found f
  cross join lateral (select array(select t from unnest(f.types) t where t <> 'null' and t <> all(f.known_types) order by 1) as types) t
  where f.is_known and f.number is not null and not f.known_types <@ '{"null"}' and cardinality(t.types) > 0;
  with absent as (
    update collab_store.observed_members o
    set is_absent = true
    from collab_store.observed_records r
    where o.object = r.object and not o.is_absent and r.records - o.last_record >= 1000
      and o.records >= 20 and o.records * 50 >= o.last_record - o.first_record
    returning o.object, o.path, o.types
  )
  insert into sync.member_changes (object, path, change, types)
  select a.object, a.path, 'absent', a.types
  from absent a
  where not exists (select from absent p where (p.object, p.path) = (a.object, a.path[:cardinality(a.path) - 1]));
  -- Among fewer records the rare members have not come up yet: 500 show what one in 100 has with a probability of 99 %.
  if not page.has_more then
    update collab_store.observed_records r set is_known = true where not r.is_known and r.records >= 500;
  end if;
  return page.has_more;
end
$$;
comment on function collab_store.observe_page(integer) is 'Looks through so many changes for members of comments and users, with 0 passes over one change. True where there are more. Objects with more than 50 different keys count as one path: their keys may be ids.';

create function collab_store.observe_members(max_changes integer, out has_more boolean, out passed_over text)
language plpgsql
set jit = off
as $$
declare
  changes integer := max_changes;
begin
  -- Who comes second has nothing to do.
  perform from collab_store.observed_records order by object for update skip locked;
  if not found then
    has_more := false;
    return;
  end if;
  loop
    begin
      has_more := collab_store.observe_page(changes);
      return;
    exception
      -- The cursor always moves: what PostgreSQL cannot hold at a time is halved, and a change that fails alone is passed over.
      when data_exception or program_limit_exceeded or insufficient_resources or internal_error then
        if changes = 0 then raise; end if;
        changes := changes / 2;
        if changes = 0 then passed_over := sqlstate; end if;
    end;
  end loop;
end
$$;
comment on function collab_store.observe_members(integer) is 'Looks through so many changes, or the first of them where all at a time fail. has_more: whether there are more. passed_over: the SQLSTATE of the error for which one change was passed over, else null.';
