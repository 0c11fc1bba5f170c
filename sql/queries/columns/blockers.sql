-- Who is using one of the views now, the longest first.
-- Params: $1 object.
-- Never null: relation, pid.
select l.relation::regclass::text as relation, l.pid, s.usename::text as role_name, s.application_name, s.xact_start as since
from pg_locks l
left join pg_stat_activity s using (pid)
where l.relation = any(collab_store.added_column_views($1)) and l.granted and l.pid <> pg_backend_pid()
  and l.database = (select d.oid from pg_database d where d.datname = current_database())
order by s.xact_start
limit 1
