-- Up Migration
-- A document, an annotation or a user group gets another id, as the service moves them. All that is stored of it has its
-- key, and stays; the old id is told by the feed of changes, and means the same row wherever the catalog is filled.

create table collab_store.renames (
  number bigint primary key,
  organization_key integer not null references collab_store.organizations,
  kind text not null check (kind in ('document', 'annotation', 'user_group')),
  parent_key integer not null,
  key integer not null,
  is_alias boolean not null,
  at timestamptz not null default now(),
  old_id text not null
);
create unique index renames_alias on collab_store.renames (kind, parent_key, old_id) where is_alias;
create index renames_of on collab_store.renames (kind, key, number);
create policy granted_organizations on collab_store.renames
using (
  (select collab_store.sees_every_organization(current_user))
  or organization_key = any(array(select g.organization_key from collab_store.organization_grants g
    where pg_has_role(current_user, to_regrole(quote_ident(g.role_name))::oid, 'usage')))
) with check (true);
comment on table collab_store.renames is 'Each id that something of the catalog had before: what an import or a program may still call it, and what a reader of the feed of changes may have it under.';
comment on column collab_store.renames.number is 'Its place among the numbers of the log of changes, drawn while the batches concerned are locked.';
comment on column collab_store.renames.organization_key is 'The organization in which it was renamed.';
comment on column collab_store.renames.kind is 'What was renamed.';
comment on column collab_store.renames.parent_key is 'Within what the id is unique: document_key of an annotation, else organization_key.';
comment on column collab_store.renames.key is 'document_key, annotation_key or user_group_key of what was renamed.';
comment on column collab_store.renames.is_alias is 'True while the old id means this row: until it is renamed back to that id, or to one from before.';
comment on column collab_store.renames.at is 'When it was renamed (our clock).';
comment on column collab_store.renames.old_id is 'The service''s id of it before.';

create function collab_store.id_now(kind text, parent_key integer, id text) returns text
language sql stable
as $$
  select coalesce((
    select case r.kind
      when 'document' then (select d.document_id from collab_store.documents d where d.document_key = r.key)
      when 'annotation' then (select a.annotation_id from collab_store.annotations a where a.annotation_key = r.key)
      else (select g.organization_user_group_id from collab_store.user_groups g where g.user_group_key = r.key) end
    from collab_store.renames r
    where r.kind = $1 and r.parent_key = $2 and r.old_id = $3 and r.is_alias
  ), $3)
$$;
comment on function collab_store.id_now(text, integer, text) is 'What is called now what was called so once; the id itself where nothing was.';

alter table collab_store.changes add column rename bigint;
alter table collab_store.changes alter column rename set default nullif(current_setting('collab_sync.rename', true), '')::bigint;
comment on column collab_store.changes.rename is 'The row of renames that gave these rows another key; null for all other changes.';

-- A line has its row as it is now, and key with it. Three things stand as of the line's own number, since nothing of now tells
-- them: the old key of a rename; the key of a membership that an erasure took away before a later rename, under which alone a
-- copy can have it; and, where the erased person is gone, the key that a rename gave it.
-- A function whose columns change is made anew.
do $$
declare
  definition text := pg_get_functiondef('reporting.changes_as_json'::regproc);
  id_at constant text := '(select r.old_id from collab_store.renames r where r.kind = %L and r.key = %s and r.number >= %s order by r.number limit 1)';
  document_before constant text := format('coalesce(' || id_at || ', d.document_id)', 'document', 'd.document_key', 'l.rename');
  annotation_before constant text := format('coalesce(' || id_at || ', a.annotation_id)', 'annotation', 'a.annotation_key', 'l.rename');
  user_group_before constant text := format('coalesce(' || id_at || ', g.organization_user_group_id)', 'user_group', 'g.user_group_key', 'l.rename');
  erased constant text := $t$case when u.user_id is null or l.change = 'erased' then nullif(%s, %s) end$t$;
  document_then constant text := format(erased, format(id_at, 'document', 'd.document_key', 'l.number'), 'd.document_id');
  user_group_then constant text := format(erased, format(id_at, 'user_group', 'g.user_group_key', 'l.number'), 'g.organization_user_group_id');
  change record;
begin
  for change in
    select *
    from (values
      ('person uuid)', 'person uuid, old_key json)'),
      ('null::uuid, null::uuid;', 'null::uuid, null::uuid, null::json;'),
      ('c.run_id, n.key,', 'c.run_id, c.rename, n.key,'),
      ($t$when 'document_user' then json_build_object('organization_id', o.organization_id, 'document_id', d.document_id,$t$,
        $t$when 'document_user' then json_build_object('organization_id', o.organization_id, 'document_id', coalesce($t$
          || document_then || ', d.document_id),'),
      ($t$else json_build_object('organization_id', o.organization_id, 'organization_user_group_id', g.organization_user_group_id, 'user_id'$t$,
        $t$else json_build_object('organization_id', o.organization_id, 'organization_user_group_id', coalesce($t$
          || user_group_then || $t$, g.organization_user_group_id), 'user_id'$t$),
      ('from collab.document_users v
            where ', 'from collab.document_users v
            where (' || document_then || ') is null and '),
      ('from collab.user_group_members v
            where ', 'from collab.user_group_members v
            where (' || user_group_then || ') is null and '),
      ('l.at, l.run_id, l.person
', $t$l.at, l.run_id, l.person,
        case when l.rename is not null then (case l.object
          when 'document' then json_build_object('organization_id', o.organization_id, 'document_id', $t$ || document_before || $t$)
          when 'annotation' then json_build_object('organization_id', o.organization_id, 'document_id', $t$ || document_before || $t$,
            'annotation_id', $t$ || annotation_before || $t$)
          when 'comment' then json_build_object('organization_id', o.organization_id, 'document_id', $t$ || document_before || $t$,
            'annotation_id', $t$ || annotation_before || $t$, 'comment_id', l.comment_id)
          when 'user_group' then json_build_object('organization_id', o.organization_id, 'organization_user_group_id', $t$ || user_group_before || $t$)
          when 'document_user' then json_build_object('organization_id', o.organization_id, 'document_id', $t$ || document_before || $t$,
            'user_id', u.user_id)
          else json_build_object('organization_id', o.organization_id, 'organization_user_group_id', $t$ || user_group_before || $t$,
            'user_id', u.user_id)
        end) end
$t$)
    ) as c (old_text, new_text)
  loop
    if position(change.old_text in definition) = 0 then
      raise exception 'reporting.changes_as_json() is not the one of 0026: it lacks %', change.old_text;
    end if;
    definition := replace(definition, change.old_text, change.new_text);
  end loop;
  drop function reporting.changes_as_json(text, integer, text[]);
  execute definition;
end
$$;
comment on function reporting.changes_as_json(text, integer, text[]) is 'As reporting.changes(), in two thirds of its time: row is JSON text with the columns in the order of their view, on which operators of jsonb do not work. collab-sync changes and GET /v1/changes ask it.';

drop function reporting.changes(text, integer, text[]);
create function reporting.changes(after text default null, max_changes integer default 1000, objects text[] default null)
returns table (cursor text, object text, change text, key json, "row" jsonb, at timestamptz, run_id uuid, person uuid, old_key json)
language sql stable
as $$
  select c.cursor, c.object, c.change, c.key, c."row"::jsonb, c.at, c.run_id, c.person, c.old_key
  from reporting.changes_as_json($1, $2, $3) c
$$;
comment on function reporting.changes(text, integer, text[]) is 'What changed after a cursor (null: as far back as the log goes), in the order of the changes of each row; objects are those of schema collab. row is as it is now, null where it is gone. old_key is the key that a rename took from the row: remove that one, then put row in the place of key. A last row without an object has the cursor to go on from, and whether there is more now; up to max_changes are looked through a call. Begin with an export and reporting.changes_cursor().';
