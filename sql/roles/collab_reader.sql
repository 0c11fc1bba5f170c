-- The role that analysts' own roles are made members of: reads what the service said and the reports, nothing else.
-- Safe to repeat. Run by the role that owns the schemas, in the database of collab-sync:
-- default privileges hold for what that role creates later.
-- On PostgreSQL 14 every role may create tables in the schema public; that is the database's own business.

do $$
begin
  if not exists (select from pg_roles where rolname = 'collab_reader') then
    create role collab_reader nologin;
    comment on role collab_reader is 'May read the schemas collab and reporting of collab-sync, and nothing else.';
  end if;
exception
  -- Roles are shared by all databases of a server: another one may have made it this very moment.
  when duplicate_object or unique_violation then null;
end
$$;

grant usage on schema collab, reporting to collab_reader;
grant select on all tables in schema collab, reporting to collab_reader;
grant execute on all functions in schema reporting to collab_reader;
alter default privileges in schema collab, reporting grant select on tables to collab_reader;
