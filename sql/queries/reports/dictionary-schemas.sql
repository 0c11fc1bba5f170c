-- Some schemas with their comments.
-- Params: $1 schemas.
select nspname as name, obj_description(oid, 'pg_namespace') as comment
from pg_namespace
where nspname = any($1)
order by array_position($1, nspname::text)
