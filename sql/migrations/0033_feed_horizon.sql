-- Up Migration
-- The feed of changes waits for transactions of its own database only. One that is forgotten in another database of the server
-- held it back before, and the passes of refresh (docs/decisions).

create function collab_store.feed_horizon(snapshot pg_snapshot) returns xid8
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  own constant oid := (select oid from pg_database where datname = current_database());
begin
  -- There a snapshot does not list the transactions that are under way.
  if pg_is_in_recovery() then
    return pg_snapshot_xmin(snapshot);
  end if;
  -- PostgreSQL keeps what it has read of activity until the transaction ends: an older picture than the snapshot.
  perform pg_stat_clear_snapshot();
  -- Not by process: their ids are used again. What has ended since the snapshot is in no list, and counts as of this database.
  return coalesce((
    select x
    from pg_snapshot_xip(snapshot) x
    where not exists (select from pg_stat_get_activity(null) a where a.backend_xid = x::xid and a.datid <> own)
      and not exists (select from pg_prepared_xact() p where p.transaction = x::xid and p.dbid <> own)
    order by x
    limit 1
  ), pg_snapshot_xmax(snapshot));
end
$$;
comment on function collab_store.feed_horizon(pg_snapshot) is 'The first transaction of this database that had not ended when the snapshot was taken: what all before it wrote is there, and no more can come. The snapshot has to be that of the statement which reads the rows, so that the function is stable.';

create or replace function reporting.changes_cursor() returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select format('%s-%s-%s-0-0', collab_store.feed_identity(), x, x) from collab_store.feed_horizon(pg_current_snapshot()) x
$$;

create or replace function reporting.changes_held_back(out lines bigint, out since timestamptz, out pid integer, out role_name text,
  out database_name text, out application_name text)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select (select coalesce(sum(c.lines), 0) from collab_store.changes c
      -- What a dump brought may have transactions that are yet to come here.
      where c.xid >= (select collab_store.feed_horizon(pg_current_snapshot())) and c.xid < pg_snapshot_xmax(pg_current_snapshot())),
    h.since, h.pid, h.role_name, h.database_name, h.application_name
  from (select) one
  left join (
    select a.xact_start as since, a.pid, a.usename::text as role_name, a.datname::text as database_name, a.application_name,
      age(a.backend_xid) as age
    from pg_stat_activity a where a.backend_xid is not null and a.datname = current_database()
    union all
    select p.prepared, null, p.owner::text, p.database::text, 'prepared transaction ' || p.gid, age(p.transaction)
    from pg_prepared_xacts p where p.database = current_database()
    order by age desc
    limit 1
  ) h on collab_store.sees_every_organization(coalesce(nullif(current_setting('role', true), 'none'), session_user)::name)
$$;
comment on function reporting.changes_held_back() is 'Committed changes that the feed does not give yet (lines), because an older transaction of this database is still writing: whose and since when. Who that is, a role of single organizations is not told.';

drop function reporting.changes_as_json(text, integer, text[]);
create function reporting.changes_as_json(after text default null, max_changes integer default 1000, objects text[] default null, until text default null)
returns table (cursor text, object text, change text, key json, "row" json, at timestamptz, run_id uuid, person uuid, old_key json)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set jit = off
as $$
#variable_conflict use_column
declare
  -- In a function with its owner's rights current_user is the owner.
  caller constant name := coalesce(nullif(current_setting('role', true), 'none'), session_user);
  granted constant integer[] := case when not collab_store.sees_every_organization(caller)
    then array(select g.organization_key from collab_store.organization_grants g where pg_has_role(caller, g.role_name::name, 'usage')) end;
  own_feed constant text := collab_store.feed_identity();
  -- One for all rows of a page: asked a second time it may be lower.
  newest constant xid8 := coalesce((regexp_match($4, '^[0-9a-f]{12}-[0-9]{1,19}-([0-9]{1,19})-'))[1]::xid8, collab_store.feed_horizon(pg_current_snapshot()));
  wanted integer := coalesce($2, 1000);
  parts constant text[] := regexp_match($1, '^([0-9a-f]{12})-([0-9]{1,19})-([0-9]{1,19})-([0-9]{1,18})-([0-9]{1,9})$');
  -- Without a cursor behind what was pruned.
  low xid8 := coalesce(parts[2], (select (p.xid::text::bigint + 1)::text from collab_store.changes_pruned p where p.feed = own_feed), '0');
  high xid8 := coalesce(parts[3], low::text);
  last_number bigint := coalesce(parts[4], '0');
  last_place integer := coalesce(parts[5], '0');
  prefix text;
  stop_number bigint;
  stop_place integer;
  picked integer;
begin
  if not has_table_privilege(caller, 'collab.comments', 'select') then
    raise insufficient_privilege using message = 'permission denied for view collab.comments';
  end if;
  if wanted < 1 then
    raise invalid_parameter_value using message = 'max_changes is a number of changes, from 1.';
  end if;
  if $1 is not null and parts is null then
    raise invalid_parameter_value using message = 'This is no cursor of the feed of changes.';
  end if;
  if parts[1] <> own_feed or high > pg_snapshot_xmax(pg_current_snapshot()) and not pg_is_in_recovery() then
    raise sqlstate 'CS410' using message = 'This cursor is of another feed: the database was restored, moved, or another server took over.';
  end if;
  if exists (select from collab_store.changes_pruned p
    where p.feed = parts[1] and p.xid >= low and p.number > last_number) then
    raise sqlstate 'CS410' using message = 'This cursor is too old: prune has deleted changes that come after it.';
  end if;
  -- A standby that is behind the server that gave the cursor may still lack rows before it.
  if high > newest and pg_is_in_recovery() then
    return query select $1, null::text, 'end', null::json, null::json, null::timestamptz, null::uuid, null::uuid, null::json;
    return;
  end if;
  loop
    -- Rows of the log up to the one in which the page is full.
    select b.number, b.skipped + least(b.rest, wanted - b.before), b.before + least(b.rest, wanted - b.before)
    into stop_number, stop_place, picked
    from (
      select c.number, c.skipped, c.rest, sum(c.rest) over (order by c.number) - c.rest as before
      from (
        select c.number, s.skipped, c.lines - s.skipped as rest
        from collab_store.changes c
        cross join lateral (select case when c.number = last_number then last_place else 0 end as skipped) s
        where c.number >= last_number and c.xid >= low and c.xid < high and c.lines > s.skipped
        order by c.number
        limit wanted
      ) c
    ) b
    where b.before < wanted
    order by b.number desc
    limit 1;
    prefix := format('%s-%s-%s-', own_feed, low, high);
    if found then
      return query
      select prefix || l.number || '-' || l.place, l.object, l.change,
        case l.object
          when 'organization' then json_build_object('organization_id', o.organization_id)
          when 'document' then json_build_object('organization_id', o.organization_id, 'document_id', d.document_id)
          when 'annotation' then json_build_object('organization_id', o.organization_id, 'document_id', d.document_id, 'annotation_id', a.annotation_id)
          when 'comment' then json_build_object('organization_id', o.organization_id, 'document_id', d.document_id,
            'annotation_id', a.annotation_id, 'comment_id', l.comment_id)
          when 'user_group' then json_build_object('organization_id', o.organization_id, 'organization_user_group_id', g.organization_user_group_id)
          when 'user' then json_build_object('organization_id', o.organization_id, 'user_id', u.user_id)
          when 'document_user' then json_build_object('organization_id', o.organization_id, 'document_id', coalesce(case when u.user_id is null or l.change = 'erased' then nullif((select r.old_id from collab_store.renames r where r.kind = 'document' and r.key = d.document_key and r.number >= l.number order by r.number limit 1), d.document_id) end, d.document_id), 'user_id', u.user_id)
          else json_build_object('organization_id', o.organization_id, 'organization_user_group_id', coalesce(case when u.user_id is null or l.change = 'erased' then nullif((select r.old_id from collab_store.renames r where r.kind = 'user_group' and r.key = g.user_group_key and r.number >= l.number order by r.number limit 1), g.organization_user_group_id) end, g.organization_user_group_id), 'user_id', u.user_id)
        end,
        -- Times of check change each night, and what is in the catalog with the annotation's own line.
        case when l.object = 'comment' then (
          select to_json(v) from collab_store.comment_lines v
          where v.organization_id = o.organization_id and v.document_id = d.document_id and v.annotation_id = a.annotation_id
            and v.comment_id = l.comment_id
        ) else (case l.object
          when 'organization' then (select to_jsonb(v) from collab.organizations v where v.organization_id = o.organization_id)
          when 'document' then (select to_jsonb(v) from collab.documents v
            where v.organization_id = o.organization_id and v.document_id = d.document_id)
          when 'annotation' then (select to_jsonb(v) from collab.annotations v
            where v.organization_id = o.organization_id and v.document_id = d.document_id and v.annotation_id = a.annotation_id)
          when 'user_group' then (select to_jsonb(v) from collab.user_groups v
            where v.organization_id = o.organization_id and v.organization_user_group_id = g.organization_user_group_id)
          when 'user' then (select to_jsonb(v) from collab.users v
            where v.organization_id = o.organization_id and v.user_id = u.user_id)
          when 'document_user' then (select to_jsonb(v) from collab.document_users v
            where (case when u.user_id is null or l.change = 'erased' then nullif((select r.old_id from collab_store.renames r where r.kind = 'document' and r.key = d.document_key and r.number >= l.number order by r.number limit 1), d.document_id) end) is null and v.organization_id = o.organization_id and v.document_id = d.document_id and v.user_id = u.user_id)
          else (select to_jsonb(v) from collab.user_group_members v
            where (case when u.user_id is null or l.change = 'erased' then nullif((select r.old_id from collab_store.renames r where r.kind = 'user_group' and r.key = g.user_group_key and r.number >= l.number order by r.number limit 1), g.organization_user_group_id) end) is null and v.organization_id = o.organization_id and v.organization_user_group_id = g.organization_user_group_id
              and v.user_id = u.user_id)
        end - case when l.object in ('user', 'document_user', 'user_group_member') then array['checked_at', 'is_stale', 'in_catalog'] else array['checked_at', 'is_stale'] end)::json end,
        l.at, l.run_id, l.person,
        case when l.rename is not null then (case l.object
          when 'document' then json_build_object('organization_id', o.organization_id, 'document_id', coalesce((select r.old_id from collab_store.renames r where r.kind = 'document' and r.key = d.document_key and r.number >= l.rename order by r.number limit 1), d.document_id))
          when 'annotation' then json_build_object('organization_id', o.organization_id, 'document_id', coalesce((select r.old_id from collab_store.renames r where r.kind = 'document' and r.key = d.document_key and r.number >= l.rename order by r.number limit 1), d.document_id),
            'annotation_id', coalesce((select r.old_id from collab_store.renames r where r.kind = 'annotation' and r.key = a.annotation_key and r.number >= l.rename order by r.number limit 1), a.annotation_id))
          when 'comment' then json_build_object('organization_id', o.organization_id, 'document_id', coalesce((select r.old_id from collab_store.renames r where r.kind = 'document' and r.key = d.document_key and r.number >= l.rename order by r.number limit 1), d.document_id),
            'annotation_id', coalesce((select r.old_id from collab_store.renames r where r.kind = 'annotation' and r.key = a.annotation_key and r.number >= l.rename order by r.number limit 1), a.annotation_id), 'comment_id', l.comment_id)
          when 'user_group' then json_build_object('organization_id', o.organization_id, 'organization_user_group_id', coalesce((select r.old_id from collab_store.renames r where r.kind = 'user_group' and r.key = g.user_group_key and r.number >= l.rename order by r.number limit 1), g.organization_user_group_id))
          when 'document_user' then json_build_object('organization_id', o.organization_id, 'document_id', coalesce((select r.old_id from collab_store.renames r where r.kind = 'document' and r.key = d.document_key and r.number >= l.rename order by r.number limit 1), d.document_id),
            'user_id', u.user_id)
          else json_build_object('organization_id', o.organization_id, 'organization_user_group_id', coalesce((select r.old_id from collab_store.renames r where r.kind = 'user_group' and r.key = g.user_group_key and r.number >= l.rename order by r.number limit 1), g.organization_user_group_id),
            'user_id', u.user_id)
        end) end
      from (
        select c.number, n.place, c.object, c.change, c.at, c.run_id, c.rename, n.key, n.comment_id, n.person
        from collab_store.changes c
        cross join lateral unnest(c.keys, c.comment_ids, c.persons) with ordinality n (key, comment_id, person, place)
        where c.number between last_number and stop_number and c.xid >= low and c.xid < high
          and (c.number, n.place) > (last_number, last_place) and (c.number, n.place) <= (stop_number, stop_place)
          and ($3 is null or c.object = any($3))
        offset 0
      ) l
      left join collab_store.annotations a on l.object in ('annotation', 'comment') and a.annotation_key = l.key
      left join collab_store.documents d
        on d.document_key = case when l.object in ('document', 'document_user') then l.key else a.document_key end
      left join collab_store.user_groups g on l.object in ('user_group', 'user_group_member') and g.user_group_key = l.key
      join collab_store.organizations o on o.organization_key
        = case when l.object in ('organization', 'user') then l.key else coalesce(d.organization_key, g.organization_key) end
      left join collab_store.users u on u.organization_key = o.organization_key and u.person = l.person
      where granted is null or o.organization_key = any(granted)
      order by l.number, l.place;
      wanted := wanted - picked;
      last_number := stop_number;
      last_place := stop_place;
    end if;
    exit when wanted = 0 or newest <= high;
    low := high;
    high := newest;
    select coalesce(min(c.number) - 1, last_number), 0 into last_number, last_place
    from collab_store.changes c where c.xid >= low and c.xid < high;
  end loop;
  return query select case when wanted = 0 then format('%s-%s-%s-%s-%s', own_feed, low, high, last_number, last_place)
    else format('%s-%s-%s-0-0', own_feed, high, high) end, null::text, case when wanted = 0 then 'more' else 'end' end, null::json, null::json, null::timestamptz, null::uuid, null::uuid, null::json;
end
$$;
comment on function reporting.changes_as_json(text, integer, text[], text) is 'As reporting.changes(), in two thirds of its time: row is JSON text with the columns in the order of their view, on which operators of jsonb do not work. With the cursor that ended a page as until, it gives just the rows of that page. collab-sync changes and GET /v1/changes ask it.';
