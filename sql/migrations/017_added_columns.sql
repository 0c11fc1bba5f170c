-- Up Migration
-- Columns that a person adds to collab.comments or collab.users with `collab-sync column add`: a member that no column of
-- ours holds, with a type, as an expression over what is stored. Nothing is rewritten, and the past has it at once.
create table collab_store.added_columns (
  number integer generated always as identity primary key,
  object text not null check (object in ('comments', 'users')),
  -- Their checks also keep an erasure from rewriting what views are made of: no id of a person comes in here.
  name text not null check (name ~ '^[a-z_][a-z0-9_]{0,62}$'),
  member text not null check (member <> ''),
  type text not null check (type in ('text', 'integer', 'numeric', 'boolean', 'timestamptz', 'date')),
  stored_in text check (stored_in <> ''),
  is_indexed boolean not null default false,
  added_at timestamptz not null default now(),
  unique (object, name)
);
comment on table collab_store.added_columns is 'Columns that were added with `collab-sync column add`. The views are made of it: change it with that command only.';
comment on column collab_store.added_columns.number is 'Counts them; the name of its index ends with it.';
comment on column collab_store.added_columns.object is 'Of which table of schema collab it is a column.';
comment on column collab_store.added_columns.name is 'Its name in the views.';
comment on column collab_store.added_columns.member is 'The member that it shows, names with dots between.';
comment on column collab_store.added_columns.type is 'Its type; what does not fit is null.';
comment on column collab_store.added_columns.stored_in is 'The column of the table that holds the member by itself; null where rest holds it. migrate follows where a later version gives a member its column.';
comment on column collab_store.added_columns.is_indexed is 'Whether an index on it is wanted.';
comment on column collab_store.added_columns.added_at is 'When it was added (our clock).';

-- What a member's value is as a type; null where it does not fit. In all sessions alike, so that an index may hold it. Who
-- reads a view runs them with rights of its own, which do not reach into this schema: no body looks a name of ours up there
-- when it runs.
create function collab_store.as_text(value jsonb) returns text
language sql immutable parallel safe
return value #>> '{}';
comment on function collab_store.as_text(jsonb) is 'A string as it is, everything else as JSON writes it.';

create function collab_store.as_boolean(value jsonb) returns boolean
language sql immutable parallel safe
return case lower(value #>> '{}') when 'true' then true when 'false' then false end;
comment on function collab_store.as_boolean(jsonb) is 'True and false, also where they are written as a string.';

create function collab_store.as_numeric(value jsonb) returns numeric
language plpgsql immutable strict parallel safe
as $$
begin
  if jsonb_typeof(value) = 'number' then
    return value::numeric;
  elsif jsonb_typeof(value) = 'string' and length(value #>> '{}') <= 1000
    and value #>> '{}' ~ '^[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]{1,3})?$' then
    return (value #>> '{}')::numeric;
  end if;
  return null;
end
$$;
comment on function collab_store.as_numeric(jsonb) is 'A number, also one that is written as a string.';

create function collab_store.as_integer(value jsonb) returns integer
language plpgsql immutable strict parallel safe
as $$
begin
  if jsonb_typeof(value) in ('number', 'string') and value #>> '{}' ~ '^[+-]?0*[0-9]{1,10}([.]0*)?$'
    and (value #>> '{}')::numeric between -2147483648 and 2147483647 then
    return (value #>> '{}')::numeric;
  end if;
  return null;
end
$$;
comment on function collab_store.as_integer(jsonb) is 'A whole number of 32 bits, also one that is written as a string.';

create function collab_store.as_timestamptz(value jsonb) returns timestamptz
language plpgsql immutable strict parallel safe
as $$
declare
  nanoseconds constant jsonb := coalesce(value -> 'nanoseconds', value -> '_nanoseconds', value -> 'nanos', value -> '_nanos');
  whole constant jsonb := coalesce(value -> 'seconds', value -> '_seconds');
  seconds numeric;
  p text[];
begin
  if jsonb_typeof(value) = 'string' then
    p := regexp_match(value #>> '{}', '^([0-9]{4})-([0-9]{2})-([0-9]{2})'
      || '(?:[Tt ]([0-9]{2}):([0-9]{2})(?::([0-9]{2}(?:[.,][0-9]{1,9})?))?(?:[Zz]|([+-])([0-9]{2})(?::?([0-9]{2}))?)?)?$');
    if p is null or p[1]::integer = 0 or p[2]::integer not between 1 and 12 or p[3]::integer = 0 or p[4]::integer > 23
      or p[5]::integer > 59 or replace(p[6], ',', '.')::numeric >= 60 or p[8]::integer > 23 or p[9]::integer > 59 then
      return null;
    end if;
    if p[3]::integer > extract(day from make_date(p[1]::integer, p[2]::integer, 1) + interval '1 month - 1 day') then
      return null;
    end if;
    return (make_timestamp(p[1]::integer, p[2]::integer, p[3]::integer, coalesce(p[4], '0')::integer,
        coalesce(p[5], '0')::integer, replace(coalesce(p[6], '0'), ',', '.')::double precision)
      - make_interval(mins => (coalesce(p[7], '+') || 1)::integer
        * (coalesce(p[8], '0')::integer * 60 + coalesce(p[9], '0')::integer))) at time zone 'UTC';
  elsif jsonb_typeof(value) = 'number' then
    seconds := value::numeric / case when value::numeric < 100000000000 then 1 else 1000 end;
  elsif jsonb_typeof(whole) = 'number' then
    seconds := whole::numeric;
    if jsonb_typeof(nanoseconds) = 'number' then
      seconds := seconds + nanoseconds::numeric / 1000000000;
    end if;
  end if;
  -- Until the end of the year 9999.
  return case when seconds > 0 and seconds < 253402300800 then to_timestamp(trunc(seconds, 6)::double precision) end;
end
$$;
comment on function collab_store.as_timestamptz(jsonb) is 'A time in ISO 8601 (in UTC where it names no zone), in epoch seconds or milliseconds, or an object with seconds or _seconds.';

create function collab_store.as_date(value jsonb) returns date
language sql immutable parallel safe
return (collab_store.as_timestamptz(value) at time zone 'UTC')::date;
comment on function collab_store.as_date(jsonb) is 'The day of a time, in UTC.';

-- A member that has a column of ours, as JSON again.
create function collab_store.json_of(value text) returns jsonb
language sql immutable parallel safe
return to_jsonb(value);
comment on function collab_store.json_of(text) is 'The string as JSON.';

create function collab_store.json_of(value timestamptz) returns jsonb
language sql immutable parallel safe
return to_jsonb(to_char(value at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'));
comment on function collab_store.json_of(timestamptz) is 'The time as raw writes it.';

create function collab_store.member_expression(member text, stored_in text, of_row text) returns text
language sql immutable
return case when stored_in is null then format('%srest #> %L', of_row, string_to_array(member, '.'))
  else format('coalesce(%1$srest #> %2$L, collab_store.json_of(%1$s%3$I))', of_row, string_to_array(member, '.'), stored_in) end;
comment on function collab_store.member_expression(text, text, text) is 'What a member is read by, as SQL. of_row stands before the names of columns. Rest comes first, as in raw: a value that is no text is there and not in the column.';

-- By their names: it must not depend on views that are replaced.
create function collab_store.added_column_views(object text) returns regclass[]
language sql stable
as $$
  select case object when 'users' then '{collab.users}'
    else '{collab.comments,reporting.comments,reporting.comments_with_deleted}' end::regclass[]
$$;
comment on function collab_store.added_column_views(text) is 'The views that show the columns added to comments or to users.';

-- Of a view what a migration wrote: without the guards of single organizations, and without what shows added columns.
create function collab_store.own_definition(view regclass) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  definition text := rtrim(pg_get_viewdef(view), ';');
begin
  while definition ~ '\) (guarded|shown)$' loop
    definition := regexp_replace(substr(definition, strpos(definition, 'FROM ( SELECT ') + 7), '\) (guarded|shown)$', '');
  end loop;
  return regexp_replace(definition, '^SELECT [cu]\.\*::collab_store\.(comments|users) AS record,', 'SELECT ');
end
$$;
comment on function collab_store.own_definition(regclass) is 'The select of a view as a migration wrote it, as PostgreSQL prints it.';

-- The record goes through the view's own select beside its columns, and the planner makes the column of it again: an index
-- on the expression is found.
create function collab_store.view_text(view regclass, own text, names name[]) returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  -- As the views' own select calls the row.
  of_object constant text := case view when 'collab.users'::regclass then 'users' else 'comments' end;
  inner_text constant text := regexp_replace(own, '^\s*select\s',
    format('select %s::collab_store.%s as record, ', case of_object when 'users' then 'u' else 'c' end, of_object), 'i');
  own_names name[];
  present constant name[] := coalesce(names, (select array_agg(a.attname order by a.attnum) from pg_attribute a
    where a.attrelid = view and a.attnum > 0));
begin
  execute 'create view collab_store.probed as ' || own;
  own_names := (select array_agg(a.attname order by a.attnum) from pg_attribute a where a.attrelid = 'collab_store.probed'::regclass and a.attnum > 0);
  drop view collab_store.probed;
  if present <@ own_names and not exists (select from collab_store.added_columns c where c.object = of_object) then
    return own;
  end if;
  return (
    select format('select %s from (%s) shown', string_agg(
      case when n.name = any(own_names) then format('shown.%I', n.name)
        else format('collab_store.%I(%s) as %I', 'as_' || a.type,
          collab_store.member_expression(a.member, a.stored_in, '(shown.record).'), n.name) end, ', ' order by n.place), inner_text)
    from unnest(present || array(
      -- Ours that are new stand before those that are being added now: nobody has counted on a place yet.
      select o from unnest(own_names) with ordinality o (o, place) where o <> all(present) order by place
    ) || array(
      select c.name::name from collab_store.added_columns c
      where names is null and c.object = of_object and c.name <> all(present || own_names) order by c.number
    )) with ordinality n (name, place)
    left join collab_store.added_columns a on a.object = of_object and a.name = n.name
  );
end
$$;
comment on function collab_store.view_text(regclass, text, name[]) is 'The select of a view that shows added columns: in the order that its columns have (or the names, just these), then what is new.';

create function collab_store.define_view(view regclass, own text default null) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  lock table collab_store.added_columns in share row exclusive mode;
  execute format('create or replace view %s as %s', view,
    collab_store.view_text(view, coalesce(rtrim(own, E'; \n'), collab_store.own_definition(view)), null));
  if view = 'collab.comments'::regclass then
    perform collab_store.define_comment_lines();
  end if;
end
$$;
comment on function collab_store.define_view(regclass, text) is 'Replaces a view that shows added columns by a select of ours, and carries those columns along, whatever stands where: ours that are new come after what is there. Migrations call it in place of `create or replace view`; without a select it makes the view anew.';

-- PostgreSQL takes no column away from a view: another one takes its place. Views that read it are replaced by themselves,
-- which binds them to that one; everything else about them stays.
create function collab_store.drop_added_column(view regclass, dropped name) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  own constant text := collab_store.own_definition(view);
  names constant name[] := (select array_agg(a.attname order by a.attnum) from pg_attribute a
    where a.attrelid = view and a.attnum > 0 and a.attname <> dropped);
  new_text constant text := collab_store.view_text(view, own, names);
  owner constant name := (select pg_get_userbyid(c.relowner) from pg_class c where c.oid = view);
  schema_name constant name := (select n.nspname from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = view);
  view_name constant name := (select c.relname from pg_class c where c.oid = view);
  readers constant text[] := array(
    select format('create or replace view %s %s as %s', r.oid::regclass,
      'with (' || nullif(array_to_string(r.reloptions, ', '), '') || ')', pg_get_viewdef(r.oid))
    from pg_class r
    where r.oid <> view and r.relkind = 'v' and exists (select from pg_depend d join pg_rewrite w on w.oid = d.objid
      where d.classid = 'pg_rewrite'::regclass and d.refclassid = 'pg_class'::regclass and d.refobjid = view and w.ev_class = r.oid)
  );
  new_view regclass;
  statement text;
begin
  execute format('alter view %s rename to %I', view, view_name || ' before');
  execute format('create view %I.%I as %s', schema_name, view_name, new_text);
  new_view := format('%I.%I', schema_name, view_name)::regclass;
  execute format('alter view %s owner to %I', new_view, owner);
  -- What default privileges gave to the new view goes, too.
  for statement in
    select format('revoke all on %s from %s', new_view, case g.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(g.grantee)) end)
    from pg_class c cross join aclexplode(c.relacl) g where c.oid = new_view and g.grantee <> c.relowner
    union all
    select format('grant %s on %s to %s%s', g.privilege_type, new_view,
      case g.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(g.grantee)) end,
      case when g.is_grantable then ' with grant option' end)
    from pg_class c cross join aclexplode(c.relacl) g where c.oid = view
    union all
    select format('grant %s (%I) on %s to %s%s', g.privilege_type, a.attname, new_view,
      case g.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(g.grantee)) end,
      case when g.is_grantable then ' with grant option' end)
    from pg_attribute a cross join aclexplode(a.attacl) g where a.attrelid = view and a.attname = any(names)
    union all
    select format('comment on view %s is %L', new_view, obj_description(view, 'pg_class'))
    union all
    select format('comment on column %s.%I is %L', new_view, a.attname, col_description(view, a.attnum))
    from pg_attribute a where a.attrelid = view and a.attname = any(names)
    union all
    select unnest(readers)
    union all
    select format('drop view %s', view)
  loop
    execute statement;
  end loop;
end
$$;
comment on function collab_store.drop_added_column(regclass, name) is 'Takes an added column away from a view; grants, comments, the owner and views that do not use the column stay. Fails where something else than a view is made of the view.';

create function collab_store.add_column(object text, name text, member text, type text, stored_in text, is_indexed boolean) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  view regclass;
begin
  insert into collab_store.added_columns (object, name, member, type, stored_in, is_indexed)
  values ($1, $2, $3, $4, $5, $6);
  foreach view in array collab_store.added_column_views($1) loop
    perform collab_store.define_view(view);
    execute format('comment on column %s.%I is %L', view, $2, format('Member %s as %s; null where it is missing or does not fit. Added with collab-sync column add.', $3, $4));
  end loop;
end
$$;
comment on function collab_store.add_column(text, text, text, text, text, boolean) is 'Adds a column to the views of comments or users. collab-sync column add calls it.';

create function collab_store.remove_column(object text, name text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  view regclass;
begin
  lock table collab_store.added_columns in share row exclusive mode;
  delete from collab_store.added_columns c where c.object = $1 and c.name = $2;
  drop view collab_store.comment_lines;
  foreach view in array collab_store.added_column_views($1) loop
    perform collab_store.drop_added_column(view, $2);
  end loop;
  perform collab_store.define_comment_lines();
end
$$;
comment on function collab_store.remove_column(text, text) is 'Takes an added column away from the views. collab-sync column remove calls it.';

create function collab_store.move_column(object text, name text, stored_in text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  view regclass;
begin
  lock table collab_store.added_columns in share row exclusive mode;
  -- Its index is another one, too: by its number.
  update collab_store.added_columns c set stored_in = $3, number = default where c.object = $1 and c.name = $2;
  foreach view in array collab_store.added_column_views($1) loop
    perform collab_store.define_view(view);
  end loop;
end
$$;
comment on function collab_store.move_column(text, text, text) is 'Has an added column read its member where a later version stores it. migrate calls it.';

create function collab_store.count_member(object text, member text, type text, stored_in text, out present bigint, out misfits bigint)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  execute format('select count(*), count(*) filter (where collab_store.%I(v) is null)
    from (select %s as v from collab_store.%I) t where jsonb_typeof(v) <> ''null''',
    'as_' || type, collab_store.member_expression(member, stored_in, ''), object) into present, misfits;
end
$$;
comment on function collab_store.count_member(text, text, text, text) is 'How many stored comments or users have a value in a member, and of how many it does not fit a type. Reads the whole table.';
