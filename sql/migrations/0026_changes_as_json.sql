-- Up Migration
-- The feed of changes gives rows as JSON text: to_json of a comment without the columns that its lines leave out takes two
-- thirds of the time of to_jsonb, taking them away, and writing what is left as text.

-- Made anew with the columns of collab.comments, so that it cannot lack one.
create function collab_store.define_comment_lines() returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  columns constant name[] := array(select a.attname from pg_attribute a
    where a.attrelid = 'collab.comments'::regclass and a.attnum > 0 and a.attname <> all('{checked_at,is_stale,in_catalog}')
    order by a.attnum);
  name name;
begin
  drop view if exists collab_store.comment_lines;
  execute format('create view collab_store.comment_lines as select %s from collab.comments',
    (select string_agg(quote_ident(n), ', ') from unnest(columns) n));
  comment on view collab_store.comment_lines is 'collab.comments without what lines of the feed of changes leave out: times of check change each night, and what is in the catalog with the annotation''s own line.';
  foreach name in array columns loop
    execute format('comment on column collab_store.comment_lines.%I is %L', name, 'As in collab.comments.');
  end loop;
end
$$;
comment on function collab_store.define_comment_lines() is 'Makes comment_lines anew, with the columns that collab.comments has now.';
select collab_store.define_comment_lines();

create or replace function collab_store.define_view(view regclass, own text default null) returns void
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

create or replace function collab_store.remove_column(object text, name text) returns void
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

do $$
declare
  definition text := pg_get_functiondef('reporting.changes'::regproc);
  change record;
begin
  for change in
    select *
    from (values
      ('FUNCTION reporting.changes(', 'FUNCTION reporting.changes_as_json('),
      ('"row" jsonb', '"row" json'),
      ('null::jsonb', 'null::json'),
      ($t$        case l.object
          when 'organization' then (select to_jsonb(v)$t$, $t$        case when l.object = 'comment' then (
          select to_json(v) from collab_store.comment_lines v
          where v.organization_id = o.organization_id and v.document_id = d.document_id and v.annotation_id = a.annotation_id
            and v.comment_id = l.comment_id
        ) else (case l.object
          when 'organization' then (select to_jsonb(v)$t$),
      ($t$          when 'comment' then (select to_jsonb(v) from collab.comments v
            where v.organization_id = o.organization_id and v.document_id = d.document_id and v.annotation_id = a.annotation_id
              and v.comment_id = l.comment_id)
$t$, ''),
      ($t$l.object in ('comment', 'user', 'document_user', 'user_group_member')$t$, $t$l.object in ('user', 'document_user', 'user_group_member')$t$),
      ($t$array['checked_at', 'is_stale'] end,$t$, $t$array['checked_at', 'is_stale'] end)::json end,$t$)
    ) as c (old_text, new_text)
  loop
    if position(change.old_text in definition) = 0 then
      raise exception 'reporting.changes() is not the one of 0019: it lacks %', change.old_text;
    end if;
    definition := replace(definition, change.old_text, change.new_text);
  end loop;
  execute definition;
end
$$;
comment on function reporting.changes_as_json(text, integer, text[]) is 'As reporting.changes(), in two thirds of its time: row is JSON text with the columns in the order of their view, on which operators of jsonb do not work. collab-sync changes and GET /v1/changes ask it.';

create or replace function reporting.changes(after text default null, max_changes integer default 1000, objects text[] default null)
returns table (cursor text, object text, change text, key json, "row" jsonb, at timestamptz, run_id uuid, person uuid)
language sql stable
as $$
  select c.cursor, c.object, c.change, c.key, c."row"::jsonb, c.at, c.run_id, c.person
  from reporting.changes_as_json($1, $2, $3) c
$$;
comment on function reporting.changes(text, integer, text[]) is 'What changed after a cursor (null: as far back as the log goes), in the order of the changes of each row; objects are those of schema collab. row is as it is now, null where it is gone. A last row without an object has the cursor to go on from, and whether there is more now; up to max_changes are looked through a call. Begin with an export and reporting.changes_cursor().';
