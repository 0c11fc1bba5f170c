-- Up Migration
-- A role that was granted single organizations cannot test a value of another one. Policies alone hide rows: conditions
-- by leakproof operators (= and < on text, say) are still estimated from the statistics of all organizations, read through
-- indexes over all of them and checked before the policy, and EXPLAIN prints each. sql/roles/organization_readers.sql
-- therefore guards every column of our views for such roles (docs/decisions).

create function collab_store.reads_granted_only() returns boolean
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if not coalesce(pg_has_role(current_user, to_regrole('collab_organization_reader')::oid, 'usage'), false) then
    return false;
  end if;
  return not exists (select from pg_roles where rolname = current_user and rolsuper);
end
$$;
comment on function collab_store.reads_granted_only() is 'True for a role that was granted single organizations. Declared immutable so that the planner answers it and what hangs on it leaves the plan: everybody else pays nothing. A table with a policy has the plan made again when the role changes. Who sees which row never hangs on it alone.';

-- For such roles a policy is an organization's key alone, so that an index serves it, or that the row it belongs to may be
-- seen, looked up row by row: the planner takes a list of keys for half of the table. Everybody else keeps the policies as
-- they were.
do $$
declare
  own constant text := 'any(array(select g.organization_key from collab_store.organization_grants g
    where pg_has_role(current_user, to_regrole(quote_ident(g.role_name))::oid, ''usage'')))';
  document constant text := 'exists (select from collab_store.documents d where d.document_key = %s.document_key)';
  user_group constant text := 'exists (select from collab_store.user_groups u where u.user_group_key = %s.user_group_key)';
  annotation constant text := 'exists (select from collab_store.annotations a where a.annotation_key = %s.annotation_key)';
  policy record;
begin
  for policy in
    select p.polrelid::regclass as table_name, pg_get_expr(p.polqual, p.polrelid) as condition,
      format(v.condition, p.polrelid::regclass, p.polrelid::regclass) as granted
    from (values
      ('organizations', 'organization_key = ' || own),
      ('batches', 'organization_key = ' || own),
      ('documents', 'organization_key = ' || own),
      ('user_groups', 'organization_key = ' || own),
      ('users', 'organization_key = ' || own),
      ('comments', 'organization_key = ' || own),
      ('annotations', document),
      ('document_users', document),
      ('user_group_members', user_group),
      ('past_memberships', document || ' or ' || user_group),
      ('comment_versions', annotation)
    ) as v (table_name, condition)
    join pg_policy p on p.polname = 'granted_organizations' and p.polrelid = ('collab_store.' || v.table_name)::regclass
  loop
    execute format('alter policy granted_organizations on %s
      using (case when collab_store.reads_granted_only() then %s else %s end)', policy.table_name, policy.granted, policy.condition);
  end loop;
end
$$;

-- Of single organizations the comments are gathered before anything is compared with what the caller gave: neither the
-- index on words nor that on organizations may be asked about others. `offset 0` keeps conditions out of a sub-select.
create or replace function reporting.search_comments(query text, organization_id text default null, max_results integer default 100)
returns setof reporting.found_comment
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
declare
  -- In a function with its owner's rights current_user is the owner.
  caller constant name := coalesce(nullif(current_setting('role', true), 'none'), session_user);
  sees_every constant boolean := collab_store.sees_every_organization(caller);
  granted constant integer[] := array(
    select g.organization_key
    from (
      select o.organization_key, o.organization_id
      from collab_store.organization_grants g
      join collab_store.organizations o using (organization_key)
      where pg_has_role(caller, to_regrole(quote_ident(g.role_name))::oid, 'usage')
      offset 0
    ) g
    where $2 is null or g.organization_id = $2);
  -- Texts without the characters of a word that they must hold are not split into words: that is most of the time.
  needed constant text[] := case when reporting.search_query($1)::text ~ '[|!]' then '{}' else array(
    select '%' || m[1] || '%'
    from regexp_matches(reporting.search_query($1)::text, '''([a-z0-9\u0e00-\U0003ffff]+)''', 'g') m) end;
begin
  if not has_table_privilege(caller, 'reporting.comments', 'select') then
    raise insufficient_privilege using message = 'permission denied for view reporting.comments';
  end if;
  if sees_every then
    return query
    select ts_rank(reporting.comment_words(f.comment_text), reporting.search_query($1), 1) as rank, f.organization_id, f.document_id,
      f.annotation_id, f.comment_id, f.author_user_id, f.author_name, f.comment_text, f.last_updated
    from (
      select o.organization_id, d.document_id, a.annotation_id, c.comment_id, c.author_user_id,
        coalesce(u.name, c.author_name) as author_name, c.comment_text, c.last_updated
      from collab_store.comments c
      join collab_store.annotations a using (annotation_key)
      join collab_store.documents d using (document_key)
      join collab_store.organizations o on o.organization_key = d.organization_key
      left join collab_store.users u on u.organization_key = d.organization_key and u.user_id = c.author_user_id
      where c.deleted_at is null and reporting.comment_words(c.comment_text) @@ reporting.search_query($1)
        and ($2 is null or o.organization_id = $2)
      limit 2000 -- ranking reads every text again: of a word that common any two thousand are ranked
    ) f
    order by 1 desc, f.last_updated desc nulls last, f.organization_id, f.document_id, f.annotation_id, f.comment_id
    limit $3;
  else
    return query
    select ts_rank(reporting.comment_words(f.comment_text), reporting.search_query($1), 1) as rank, f.organization_id, f.document_id,
      f.annotation_id, f.comment_id, f.author_user_id, f.author_name, f.comment_text, f.last_updated
    from (
      select o.organization_id, d.document_id, a.annotation_id, c.comment_id, c.author_user_id,
        coalesce(u.name, c.author_name) as author_name, c.comment_text, c.last_updated
      from (
        select own.*
        from (
          select c.* from collab_store.comments c
          where c.organization_key = any(granted) and c.deleted_at is null
            and coalesce(lower(c.comment_text) like all (needed), needed = '{}')
          offset 0
        ) own
        -- Estimated as half of them, where the bare condition is taken for one row and the joins for nothing.
        where coalesce(reporting.comment_words(own.comment_text) @@ reporting.search_query($1), false)
        limit 2000
      ) c
      join collab_store.annotations a using (annotation_key)
      join collab_store.documents d using (document_key)
      join collab_store.organizations o on o.organization_key = d.organization_key
      left join collab_store.users u on u.organization_key = d.organization_key and u.user_id = c.author_user_id
    ) f
    order by 1 desc, f.last_updated desc nulls last, f.organization_id, f.document_id, f.annotation_id, f.comment_id
    limit $3;
  end if;
end
$$;

-- Below a policy a sum is no bound of an index, because adding may fail and tell of a row; a column of a sub-select is one.
create or replace view reporting.author_activity as
select w.organization_id, w.week, w.author_user_id, u.name as author_name, w.comments, w.annotations
from (
  select o.organization_key, o.organization_id, s.week, n.author_user_id, n.comments, n.annotations
  from collab_store.organizations o
  cross join lateral (
    select min(c.day) as first_day, max(c.day) as last_day
    from collab_store.comments c
    where c.organization_key = o.organization_key and c.deleted_at is null and c.day >= '2000-01-03' and c.day < '2100-01-04'
  ) e
  cross join lateral (
    select m.week, m.week + 7 as next_week
    from (select generate_series(date_trunc('week', e.first_day::timestamp), e.last_day::timestamp, interval '1 week')::date as week) m
    offset 0
  ) s
  cross join lateral (
    -- Nearly all groups hold one comment, or two: to sort each of millions of them costs more than all the rest.
    select c.author_user_id collate "C" as author_user_id, count(*) as comments,
      case when min(c.annotation_key) = max(c.annotation_key) then 1 when count(*) = 2 then 2
        else (select count(distinct k) from unnest(array_agg(c.annotation_key)) k) end as annotations
    from collab_store.comments c
    where c.organization_key = o.organization_key and c.deleted_at is null and c.day >= s.week and c.day < s.next_week
    group by 1
  ) n
  union all
  select o.organization_key, o.organization_id, n.week, n.author_user_id, n.comments, n.annotations
  from collab_store.organizations o
  cross join (values (date '-infinity', date '2000-01-03'), ('2100-01-04', 'infinity')) r (first_day, end_day)
  cross join lateral (
    select date_trunc('week', c.day::timestamp)::date as week, c.author_user_id collate "C" as author_user_id,
      count(*) as comments, count(distinct c.annotation_key) as annotations
    from collab_store.comments c
    where c.organization_key = o.organization_key and c.deleted_at is null and c.day >= r.first_day and c.day < r.end_day
    group by 1, 2
  ) n
  union all
  select o.organization_key, o.organization_id, null, n.author_user_id, n.comments, n.annotations
  from collab_store.organizations o
  cross join lateral (
    select c.author_user_id collate "C" as author_user_id, count(*) as comments, count(distinct c.annotation_key) as annotations
    from collab_store.comments c
    where c.organization_key = o.organization_key and c.deleted_at is null and c.day is null
    group by 1
  ) n
) w
left join collab_store.users u on u.organization_key = w.organization_key and u.user_id = w.author_user_id;

-- A role of one organization reads each of its comments once, whatever its version; all others as before. Joined by the
-- comment's key, annotations leave the plan where nothing of them is asked for.
create or replace view reporting.comment_history as
select o.organization_id, d.document_id, a.annotation_id, v.comment_id, v.version, v.change,
  c.author_user_id, coalesce(u.name, c.author_name) as author_name, v.comment_text, v.status, v.type, v.last_updated,
  v.valid_from, v.valid_to
from collab_store.comment_versions v
join collab_store.comments c on c.annotation_key = v.annotation_key and c.comment_id = v.comment_id
  and (c.version <> 1 or not collab_store.reads_granted_only())
left join collab_store.annotations a on a.annotation_key = c.annotation_key
left join collab_store.documents d on d.document_key = a.document_key and d.organization_key = c.organization_key
left join collab_store.organizations o on o.organization_key = c.organization_key
left join collab_store.users u on u.organization_key = c.organization_key and u.user_id = c.author_user_id
union all
select o.organization_id, d.document_id, a.annotation_id, c.comment_id, c.version, c.change,
  c.author_user_id, coalesce(u.name, c.author_name), c.comment_text, c.status, c.type, c.last_updated,
  c.version_at, null
from collab_store.comments c
left join collab_store.annotations a on a.annotation_key = c.annotation_key
left join collab_store.documents d on d.document_key = a.document_key and d.organization_key = c.organization_key
left join collab_store.organizations o on o.organization_key = c.organization_key
left join collab_store.users u on u.organization_key = c.organization_key and u.user_id = c.author_user_id
where c.version = 1 or collab_store.reads_granted_only()
union all
select o.organization_id, d.document_id, a.annotation_id, c.comment_id, c.version, c.change,
  c.author_user_id, coalesce(u.name, c.author_name), c.comment_text, c.status, c.type, c.last_updated,
  c.version_at, null
from collab_store.comments c
left join collab_store.annotations a on a.annotation_key = c.annotation_key
left join collab_store.documents d on d.document_key = a.document_key and d.organization_key = c.organization_key
left join collab_store.organizations o on o.organization_key = c.organization_key
left join collab_store.users u on u.organization_key = c.organization_key and u.user_id = c.author_user_id
where c.version > 1 and not collab_store.reads_granted_only();
