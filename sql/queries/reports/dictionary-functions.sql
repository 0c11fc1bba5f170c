-- Functions of some schemas with their comments, as the catalog of PostgreSQL has them.
-- Params: $1 schemas.
-- Never null: arguments.
select n.nspname as schema, p.proname as name, pg_get_function_arguments(p.oid) as arguments,
  pg_get_function_result(p.oid) as result, obj_description(p.oid, 'pg_proc') as comment
from pg_proc p
join pg_namespace n on n.oid = p.pronamespace
where n.nspname = any($1)
order by array_position($1, n.nspname::text), p.proname
