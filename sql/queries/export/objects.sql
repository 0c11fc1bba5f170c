-- Everything that can be exported: tables and views of the schemas for people, with their columns in order.
-- Params: none.
select n.nspname as schema, c.relname as name,
  jsonb_agg(jsonb_build_object('name', a.attname, 'type', format_type(a.atttypid, null)) order by a.attnum) as columns
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
where n.nspname in ('collab', 'reporting') and c.relkind in ('r', 'p', 'v', 'm', 'f')
group by n.nspname, c.relname
order by n.nspname, c.relname
