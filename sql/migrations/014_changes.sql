-- The feed of changes: changes to the views of schema collab, in an order that loses none.

create table collab_store.changes (
  number bigint generated always as identity primary key,
  xid xid8 not null default pg_current_xact_id(),
  at timestamptz not null default now(),
  run_id uuid default nullif(current_setting('collab_sync.run_id', true), '')::uuid,
  lines integer not null,
  object text not null check (object in
    ('organization', 'document', 'annotation', 'user_group', 'user', 'document_user', 'user_group_member', 'comment')),
  change text not null check (change in ('added', 'edited', 'deleted', 'restored', 'removed', 'erased')),
  keys integer[] not null,
  comment_ids bigint[],
  persons uuid[]
);
create index changes_xid on collab_store.changes (xid);
-- The run of a change is found by time, for a few changes of one object at a time
-- (docs/decisions/2026-11-26-evidence.md).
create index changes_of_object on collab_store.changes (object, at);
create index changes_of_catalog on collab_store.changes (object, number)
where change in ('added', 'removed', 'restored') and object in ('organization', 'document', 'annotation', 'user_group');
comment on table collab_store.changes is 'The feed of changes, packed: one row per statement and kind of change. Read it with reporting.changes().';
comment on column collab_store.changes.number is 'Assigned while the changed rows are locked, so that it orders the changes of each row.';
comment on column collab_store.changes.xid is 'The transaction; 0 for changes of a restored dump whose transaction numbers this server had not reached. It defines no order: a transaction that began later may have changed a row earlier.';
comment on column collab_store.changes.at is 'Start of the transaction.';
comment on column collab_store.changes.run_id is 'The run that found the change; null for imports, erasures and decisions of users.';
comment on column collab_store.changes.lines is 'Number of changed objects, which is the length of the arrays.';
comment on column collab_store.changes.object is 'The view of schema collab to which the rows belong.';
comment on column collab_store.changes.change is 'Kind of change.';
comment on column collab_store.changes.keys is 'organization_key for organizations and users, document_key for documents and their users, annotation_key for annotations and comments, user_group_key for user groups and their members.';
comment on column collab_store.changes.comment_ids is 'The service''s commentIds; null except for comments.';
comment on column collab_store.changes.persons is 'users.person; null except for users. Contains no user IDs.';
comment on index collab_store.changes_of_object is 'Changes of one object, by time. Finds the run of a change.';
comment on index collab_store.changes_of_catalog is 'When objects entered and left the catalog.';

create table collab_store.changes_pruned (
  only_row boolean primary key default true check (only_row),
  feed text not null default '',
  xid xid8 not null default '0',
  number bigint not null default 0,
  pruned_before timestamptz
);
comment on table collab_store.changes_pruned is 'How far prune has deleted the feed of changes. Older cursors have missed changes.';
comment on column collab_store.changes_pruned.only_row is 'Ensures that there is one row.';
comment on column collab_store.changes_pruned.feed is 'feed_identity() at that time. Another server has other transaction numbers, so that the other columns mean nothing there.';
comment on column collab_store.changes_pruned.xid is 'Highest transaction with deleted changes; 0 if all were of a restored dump.';
comment on column collab_store.changes_pruned.number is 'Highest deleted number.';
comment on column collab_store.changes_pruned.pruned_before is 'Changes before this time are deleted, or prune was deleting them; null if prune has deleted none.';
insert into collab_store.changes_pruned default values;

-- One function and three triggers per table, generated from one text. They compare the columns of the views of schema
-- collab except check times. A column added to such a view has to be added here too; test/changes verifies it. Only
-- an erasure changes a key or deletes a row. Many keys are split into rows of 5,000, so that a page of the feed
-- unpacks few.
do $$
declare
  of_catalog constant text := $c$case when o.active and not n.active then 'removed'
    when n.active and not o.active then 'restored' else 'edited' end$c$;
  of_membership constant text := $c$case when o.removed_at is null and n.removed_at is not null then 'removed'
    when o.removed_at is not null and n.removed_at is null then 'restored' else 'edited' end$c$;
  of_user constant text := $c$case when o.listed and not n.listed then 'removed'
    when n.listed and not o.listed and o.removed_at is not null then 'restored' else 'edited' end$c$;
  of_comment constant text := $c$case when n.version > o.version then n.change else 'edited' end$c$;
  logged record;
begin
  for logged in
    select *
    from (values
      ('organizations', 'organization', 'organization_key', null, 'organization_id, active, name', of_catalog),
      ('documents', 'document', 'document_key', null, 'document_id, active, name', of_catalog),
      ('user_groups', 'user_group', 'user_group_key', null, 'organization_user_group_id, active, name', of_catalog),
      ('annotations', 'annotation', 'annotation_key', null, 'annotation_id, active, failing_since, comment_count, changed_at',
        of_catalog),
      ('users', 'user', 'organization_key', 'user_id',
        'name, email, rest, listed, first_seen_at, changed_at, removed_at', of_user),
      ('document_users', 'document_user', 'document_key', 'user_id', 'first_seen_at, removed_at', of_membership),
      ('user_group_members', 'user_group_member', 'user_group_key', 'user_id', 'first_seen_at, removed_at', of_membership),
      ('comments', 'comment', 'annotation_key', 'comment_id', null, of_comment)
    ) as l (table_name, object, key, second_key, columns, change)
  loop
    execute format($f$
      create function collab_store.log_%1$s() returns trigger
      language plpgsql
      as $t$
      declare
        salt constant bytea := (select p.salt from sync.privacy p);
      begin
        if tg_op = 'INSERT' then
          %3$s (select %4$s, 'added' as what from new_rows) %5$s;
        elsif tg_op = 'DELETE' then
          %3$s (select %4$s, 'erased' as what from old_rows) %5$s;
        else
          %3$s (
            select %4$s, case when o.%6$s is null then 'added' when n.%6$s is null then 'erased'
              when current_setting('collab_sync.erases', true) = 'on' then 'erased' else %7$s end as what
            from old_rows o full join new_rows n using (%4$s)
            where %8$s is distinct from %9$s
          ) %5$s;
        end if;
        if found then
          perform pg_notify('collab_sync_changes', '');
        end if;
        return null;
      end
      $t$;
      comment on function collab_store.log_%1$s() is 'Adds changes in %1$s to the feed of changes. For its triggers.';
      create trigger log_inserted after insert on collab_store.%1$s
        referencing new table as new_rows for each statement execute function collab_store.log_%1$s();
      create trigger log_updated after update on collab_store.%1$s
        referencing old table as old_rows new table as new_rows for each statement execute function collab_store.log_%1$s();
      create trigger log_deleted after delete on collab_store.%1$s
        referencing old table as old_rows for each statement execute function collab_store.log_%1$s();$f$,
      logged.table_name, logged.object,
      format($p$insert into collab_store.changes (object, change, lines, keys, comment_ids, persons)
          select '%s', p.what, least(5000, p.lines - s), p.keys[s + 1:s + 5000], p.comment_ids[s + 1:s + 5000], p.persons[s + 1:s + 5000]
          from (
            select what, count(*)::integer as lines, array_agg(%s) as keys, %s as comment_ids, %s as persons
            from$p$, logged.object, logged.key,
        case logged.second_key when 'comment_id' then 'array_agg(comment_id)' else 'null::bigint[]' end,
        case logged.second_key when 'user_id' then 'array_agg(collab_store.person_of(salt, user_id))' else 'null::uuid[]' end),
      concat_ws(', ', logged.key, logged.second_key),
      'c group by what) p cross join generate_series(0, p.lines - 1, 5000) s',
      logged.key, logged.change,
      case when logged.columns is null then 'o' else '(o.' || replace(logged.columns, ', ', ', o.') || ')' end,
      case when logged.columns is null then 'n' else '(n.' || replace(logged.columns, ', ', ', n.') || ')' end);
  end loop;
end
$$;

-- failing_since of an organization, user group or document is that of its listing of users.
create function collab_store.log_listings() returns trigger
language plpgsql
as $$
begin
  insert into collab_store.changes (object, change, lines, keys)
  select case n.kind when 'group' then 'user_group' else n.kind end, 'edited', count(*)::integer, array_agg(n.scope_key)
  from old_rows o join new_rows n using (batch_key, scope_no)
  where o.failing_since is distinct from n.failing_since and n.operation = 'users'
  group by n.kind;
  if found then
    perform pg_notify('collab_sync_changes', '');
  end if;
  return null;
end
$$;
comment on function collab_store.log_listings() is 'Adds changes of failing_since to the feed of changes. For the trigger of listings.';
create trigger log_updated after update on collab_store.listings
referencing old table as old_rows new table as new_rows for each statement execute function collab_store.log_listings();

-- The feed of changes returns rows as JSON text. Applying to_json to a view without the excluded columns takes two
-- thirds of the time of to_jsonb, removal of the columns and conversion to text.
create view collab_store.comment_lines as
select organization_id, document_id, annotation_id, comment_id, comment_text, comment_html, author_user_id, author_name,
  author_email, status, type, last_updated, raw, first_seen_at, changed_at, deleted_at, written_at, written_at_is_exact,
  written_not_before
from collab.comments;
comment on view collab_store.comment_lines is 'collab.comments without the columns that the feed of changes excludes: check times change every night, and in_catalog belongs to the annotation.';
comment on column collab_store.comment_lines.organization_id is 'As in collab.comments.';
comment on column collab_store.comment_lines.document_id is 'As in collab.comments.';
comment on column collab_store.comment_lines.annotation_id is 'As in collab.comments.';
comment on column collab_store.comment_lines.comment_id is 'As in collab.comments.';
comment on column collab_store.comment_lines.comment_text is 'As in collab.comments.';
comment on column collab_store.comment_lines.comment_html is 'As in collab.comments.';
comment on column collab_store.comment_lines.author_user_id is 'As in collab.comments.';
comment on column collab_store.comment_lines.author_name is 'As in collab.comments.';
comment on column collab_store.comment_lines.author_email is 'As in collab.comments.';
comment on column collab_store.comment_lines.status is 'As in collab.comments.';
comment on column collab_store.comment_lines.type is 'As in collab.comments.';
comment on column collab_store.comment_lines.last_updated is 'As in collab.comments.';
comment on column collab_store.comment_lines.raw is 'As in collab.comments.';
comment on column collab_store.comment_lines.first_seen_at is 'As in collab.comments.';
comment on column collab_store.comment_lines.changed_at is 'As in collab.comments.';
comment on column collab_store.comment_lines.deleted_at is 'As in collab.comments.';
comment on column collab_store.comment_lines.written_at is 'As in collab.comments.';
comment on column collab_store.comment_lines.written_at_is_exact is 'As in collab.comments.';
comment on column collab_store.comment_lines.written_not_before is 'As in collab.comments.';

-- A cursor contains the identity of the feed, two transactions that delimit it, the number of a log row and a
-- position in this row. All rows before the first transaction have been read. All transactions before the second one
-- had ended when the cursor was created, so that no row can appear between them. A transaction that waited for a row
-- lock ended after the one that held it, so the changes of a row stay in order. Between the two transactions, the
-- number defines the order. This needs only the oldest open transaction, which a standby also knows.
create function collab_store.feed_identity() returns text
language sql stable
as $$
  select left(md5(concat_ws('/',
    (select system_identifier from pg_control_system()),
    case when pg_is_in_recovery()
      then greatest((select timeline_id from pg_control_checkpoint()), (select min_recovery_end_timeline from pg_control_recovery()))
      else ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer end,
    (select oid from pg_database where datname = current_database()))), 12)
$$;
comment on function collab_store.feed_identity() is 'Identifies the feed of changes by server, timeline (which changes after a restore or promotion of a standby) and database.';

-- The feed of changes waits only for transactions of its own database. Otherwise a forgotten transaction in another
-- database of the server would hold back the feed and the passes of refresh (docs/decisions/2026-11-25-feed-horizon.md).
create function collab_store.feed_horizon(snapshot pg_snapshot) returns xid8
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  own constant oid := (select oid from pg_database where datname = current_database());
begin
  -- On a standby, a snapshot does not list the transactions in progress.
  if pg_is_in_recovery() then
    return pg_snapshot_xmin(snapshot);
  end if;
  -- PostgreSQL caches activity data until the transaction ends, so the cache may be older than the snapshot.
  perform pg_stat_clear_snapshot();
  -- Not matched by process ID, because process IDs are reused. Transactions that ended after the snapshot are in no
  -- list, and count as of this database.
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
comment on function collab_store.feed_horizon(pg_snapshot) is 'Returns the first transaction of this database that had not ended when the snapshot was taken. All writes of earlier transactions are visible. Pass the snapshot of the statement that reads the rows, so that the function is stable.';

create function reporting.changes_cursor() returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select format('%s-%s-%s-0-0', collab_store.feed_identity(), x, x) from collab_store.feed_horizon(pg_current_snapshot()) x
$$;
comment on function reporting.changes_cursor() is 'The cursor for reporting.changes() after reading other tables in the same repeatable-read transaction. No change is missed; recent changes may be repeated.';

create function reporting.changes_held_back(out lines bigint, out since timestamptz, out pid integer, out role_name text,
  out database_name text, out application_name text)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select (select coalesce(sum(c.lines), 0) from collab_store.changes c
      -- A restored dump may contain transaction numbers that this server has not reached yet.
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
  ) h on true
$$;
comment on function reporting.changes_held_back() is 'Committed changes that the feed does not return yet (lines), and the older open transaction that they wait for.';

create function reporting.changes_as_json(after text default null, max_changes integer default 1000, objects text[] default null, until text default null)
returns table (cursor text, object text, change text, key json, "row" json, at timestamptz, run_id uuid, person uuid)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set jit = off
as $$
#variable_conflict use_column
declare
  own_feed constant text := collab_store.feed_identity();
  -- One value for all rows of a page, because a second call may return a lower one.
  newest constant xid8 := coalesce((regexp_match($4, '^[0-9a-f]{12}-[0-9]{1,19}-([0-9]{1,19})-'))[1]::xid8, collab_store.feed_horizon(pg_current_snapshot()));
  wanted integer := coalesce($2, 1000);
  parts constant text[] := regexp_match($1, '^([0-9a-f]{12})-([0-9]{1,19})-([0-9]{1,19})-([0-9]{1,18})-([0-9]{1,9})$');
  -- Without a cursor, start after the pruned part. All changes of a restored dump may have transaction 0.
  low xid8 := coalesce(parts[2], (select (p.xid::text::bigint + (p.xid <> '0')::integer)::text from collab_store.changes_pruned p where p.feed = own_feed), '0');
  high xid8 := coalesce(parts[3], low::text);
  last_number bigint := coalesce(parts[4], '0');
  last_place integer := coalesce(parts[5], '0');
  prefix text;
  stop_number bigint;
  stop_place integer;
  picked integer;
begin
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
  -- A standby that lags behind the server of the cursor may still lack earlier rows.
  if high > newest and pg_is_in_recovery() then
    return query select $1, null::text, 'end', null::json, null::json, null::timestamptz, null::uuid, null::uuid;
    return;
  end if;
  loop
    -- Rows of the log up to the one that fills the page.
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
          when 'document_user' then json_build_object('organization_id', o.organization_id, 'document_id', d.document_id, 'user_id', u.user_id)
          else json_build_object('organization_id', o.organization_id, 'organization_user_group_id', g.organization_user_group_id, 'user_id', u.user_id)
        end,
        -- Excludes check times, which change every night, in_catalog, which belongs to the scope, and marks of
        -- disputed removals, which are not in the feed. PostgreSQL computes none of them if no column needs them.
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
          when 'user' then (select to_jsonb(v) from (select organization_id, user_id, name, email, raw, listed, first_seen_at, changed_at,
              removed_at, person from collab.users) v
            where v.organization_id = o.organization_id and v.user_id = u.user_id)
          when 'document_user' then (select to_jsonb(v) from (select organization_id, document_id, user_id, first_seen_at, removed_at
              from collab.document_users) v
            where v.organization_id = o.organization_id and v.document_id = d.document_id and v.user_id = u.user_id)
          else (select to_jsonb(v) from (select organization_id, organization_user_group_id, user_id, first_seen_at, removed_at
              from collab.user_group_members) v
            where v.organization_id = o.organization_id and v.organization_user_group_id = g.organization_user_group_id
              and v.user_id = u.user_id)
        end - array['checked_at', 'is_stale'])::json end,
        l.at, l.run_id, l.person
      from (
        select c.number, n.place, c.object, c.change, c.at, c.run_id, n.key, n.comment_id, n.person
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
    else format('%s-%s-%s-0-0', own_feed, high, high) end, null::text, case when wanted = 0 then 'more' else 'end' end, null::json, null::json, null::timestamptz, null::uuid, null::uuid;
end
$$;
comment on function reporting.changes_as_json(text, integer, text[], text) is 'Like reporting.changes() in two thirds of the time: row is JSON text with the columns in the order of their view, without support for jsonb operators. With the last cursor of a page as until, it returns the rows of this page. Used by collab-sync changes and GET /v1/changes.';

create function reporting.changes(after text default null, max_changes integer default 1000, objects text[] default null)
returns table (cursor text, object text, change text, key json, "row" jsonb, at timestamptz, run_id uuid, person uuid)
language sql stable
as $$
  select c.cursor, c.object, c.change, c.key, c."row"::jsonb, c.at, c.run_id, c.person
  from reporting.changes_as_json($1, $2, $3) c
$$;
comment on function reporting.changes(text, integer, text[]) is 'Changes after a cursor, or all stored changes if it is null, in order for each row. row is the current row, null if it no longer exists. A last row without an object has the next cursor and whether there is more. Each call reads up to max_changes. Start with an export and reporting.changes_cursor().';

create function collab_store.run_of(object text, key integer, comment_id bigint, person uuid, since timestamptz) returns uuid
language sql stable
as $$
  select c.run_id
  from collab_store.changes c
  where c.at >= $5 and c.at < $5 + interval '2 days' and c.object = $1 and c.keys @> array[$2]
    and exists (
      select from unnest(c.keys, c.comment_ids, c.persons) n (key, comment_id, person)
      where n.key = $2 and ($3 is null or n.comment_id = $3) and ($4 is null or n.person = $4))
  order by c.number
  limit 1
$$;
comment on function collab_store.run_of(text, integer, bigint, uuid, timestamptz) is 'Returns the run that wrote the first change of an object within two days after a time, which is the start of the claim. Null if there was none, or if prune deleted the change. Pass comment_id for comments and person for users.';

create function collab_store.catalog_events(object text, key integer)
returns table (number bigint, at timestamptz, change text, import_id bigint, source text, requested_by text)
language sql stable
as $$
  select c.number, c.at, c.change, i.import_id, i.source, i.requested_by
  from collab_store.changes c
  left join lateral (
    select i.import_id, i.source, coalesce(i.decided_by, i.requested_by) as requested_by
    from sync.catalog_imports i
    where i.at = c.at or i.decided_at = c.at
    order by i.import_id
    limit 1
  ) i on true
  where c.object = $1 and c.change in ('added', 'removed', 'restored')
    and c.object in ('organization', 'document', 'annotation', 'user_group') and c.keys @> array[$2]
$$;
comment on function collab_store.catalog_events(text, integer) is 'Returns when an object entered, left or re-entered the catalog according to the stored feed, and the import of the same transaction.';

revoke all on function collab_store.feed_horizon(pg_snapshot), reporting.changes_cursor(), reporting.changes_held_back(),
  reporting.changes_as_json(text, integer, text[], text), reporting.changes(text, integer, text[]) from public;
