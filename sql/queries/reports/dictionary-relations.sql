-- Tables and views of some schemas with their comments and columns, as the catalog of PostgreSQL has them.
-- Params: $1 schemas.
select n.nspname as schema, c.relname as name, case c.relkind when 'v' then 'view' when 'c' then 'type' else 'table' end as kind,
  case c.relkind when 'c' then obj_description(c.reltype, 'pg_type') else obj_description(c.oid, 'pg_class') end as comment,
  (select json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod), 'notNull', a.attnotnull,
      'comment', col_description(c.oid, a.attnum)) order by a.attnum)
    from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns,
  (select json_agg(a.attname order by k.place)
    from pg_constraint x, unnest(x.conkey) with ordinality k (attnum, place)
    join pg_attribute a on a.attrelid = c.oid and a.attnum = k.attnum
    where x.conrelid = c.oid and x.contype = 'p') as key,
  (select json_agg(json_build_object(
      'columns', (select json_agg(a.attname order by k.place) from unnest(x.conkey) with ordinality k (attnum, place)
        join pg_attribute a on a.attrelid = x.conrelid and a.attnum = k.attnum),
      'to', x.confrelid::regclass::text,
      'toColumns', (select json_agg(a.attname order by k.place) from unnest(x.confkey) with ordinality k (attnum, place)
        join pg_attribute a on a.attrelid = x.confrelid and a.attnum = k.attnum)) order by x.conname)
    from pg_constraint x where x.conrelid = c.oid and x.contype = 'f') as references
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
where n.nspname = any($1) and c.relkind in ('r', 'p', 'v', 'm', 'c')
order by array_position($1, n.nspname::text), c.relkind = 'c', c.relname
