-- Makes single organizations grantable. Safe to repeat; run by `collab-sync grant ROLE --organization ID`, and from then
-- on by `migrate`, by the role that owns the tables.
-- The views come to belong to collab_views, because policies bind neither the owner of a table nor a superuser, and a
-- view reads with the rights of its owner. PostgreSQL 14 has no security_invoker.
-- And each of their columns becomes an expression for members of collab_organization_reader, and stays the column for
-- everybody else: the planner has no statistics and no index for an expression, and because num_nonnulls is not leakproof
-- it is computed of rows that passed the policies only. So no plan, estimate or count tells of rows that they hide.
-- An expression that equals a value is taken for one row in 200. Where a report joins each comment with its author, the
-- organization's name is therefore guarded together with the author's: a condition on it is checked after that join, or
-- the authors of all comments of the one organization would be looked up one by one.

do $$
declare
  object record;
begin
  if to_regrole('collab_organization_reader') is null then
    create role collab_organization_reader nologin;
    comment on role collab_organization_reader is 'Its members read the schemas collab and reporting of collab-sync, of the organizations granted to them only.';
  end if;
  if to_regrole('collab_views') is null then
    create role collab_views nologin;
    comment on role collab_views is 'Owns the views of collab-sync, so that its policies bind them. Nobody logs in as it.';
  end if;
exception
  -- Roles are shared by all databases of a server: another one may have made it this very moment.
  when duplicate_object or unique_violation then null;
end
$$;

do $$
declare
  object record;
begin
  if not pg_has_role(current_user, 'collab_views', 'usage') then
    execute format('grant collab_views to %I', current_user);
  end if;
  grant usage on schema collab_store, sync to collab_views;
  grant select on all tables in schema collab_store to collab_views;
  grant select on sync.runs, sync.run_items, sync.failures, sync.rejected_records, sync.held to collab_views;
  -- A database of an earlier version has none: migrate runs this again.
  if to_regclass('sync.refresh_sweeps') is not null then
    grant select on sync.refresh_sweeps, sync.refresh_hours to collab_views;
  end if;
  grant usage, create on schema collab, reporting to collab_views;
  grant usage on schema collab, reporting to collab_organization_reader;

  for object in
    select c.oid::regclass as name, pg_get_userbyid(c.relowner) as owner,
      pg_get_viewdef(c.oid) ~ 'reads_granted_only\(\)\) OR \(num_nonnulls\(' as is_guarded,
      c.relnamespace = 'reporting'::regnamespace and (
        select count(*) = 2 from pg_attribute a where a.attrelid = c.oid and a.attname in ('comment_id', 'author_name')
      ) as joins_authors
    from pg_class c
    where c.relnamespace in ('collab'::regnamespace, 'reporting'::regnamespace) and c.relkind = 'v'
    order by c.oid
  loop
    -- Views that analysts made there keep their owner, and are granted by him or her.
    continue when object.owner not in (current_user, 'collab_views');
    -- The columns of a view are guarded once, and again where an upgrade replaced it.
    if not object.is_guarded then
      execute format('create or replace view %s as select %s from (%s) guarded', object.name, (
        select string_agg(format('case when not collab_store.reads_granted_only() or num_nonnulls(guarded.%1$I%2$s) > 0
          then guarded.%1$I end as %1$I', a.attname,
          case when object.joins_authors and a.attname = 'organization_id' then ', guarded.author_name' end), ', ' order by a.attnum)
        from pg_attribute a
        where a.attrelid = object.name and a.attnum > 0
      ), rtrim(pg_get_viewdef(object.name), ';'));
    end if;
    if object.owner <> 'collab_views' then
      execute format('alter view %s owner to collab_views', object.name);
    end if;
    execute format('grant select on %s to collab_organization_reader', object.name);
  end loop;

  -- A table without a policy is closed to everyone but its owner.
  for object in
    select c.oid::regclass as name
    from pg_class c
    where c.relkind in ('r', 'p') and not c.relrowsecurity
      and (c.relnamespace = 'collab_store'::regnamespace
        or c.oid in ('sync.failures'::regclass, 'sync.rejected_records'::regclass, 'sync.held'::regclass))
    order by c.oid
  loop
    execute format('alter table %s enable row level security', object.name);
  end loop;
end
$$;
