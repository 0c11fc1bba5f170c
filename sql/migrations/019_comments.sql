-- A comment `As in RELATION.`, or with further sentences, means the comment of the column of the same name there. PostgreSQL
-- stores the text itself, because psql and dashboards show a comment alone. The column there may cite another one, so this is
-- repeated until nothing is replaced.
do $$
declare
  c record;
  replaced boolean;
begin
  loop
    replaced := false;
    for c in
      select n.nspname, r.relname, a.attname, m.relation, m.more, (
          select col_description(b.attrelid, b.attnum)
          from pg_catalog.pg_attribute b
          where b.attrelid = to_regclass(m.relation) and b.attname = a.attname
        ) as source
      from pg_catalog.pg_attribute a
      join pg_catalog.pg_class r on r.oid = a.attrelid
      join pg_catalog.pg_namespace n on n.oid = r.relnamespace
      cross join lateral (select col_description(r.oid, a.attnum)) d (text)
      cross join lateral (
        select case when p[1] like '%.%' then p[1] else n.nspname || '.' || p[1] end as relation, p[2] as more
        from regexp_match(d.text, '^As in ([a-z_.]+)\.(?: (.*))?$') p
      ) m
      where n.nspname in ('collab', 'collab_store', 'reporting', 'sync') and a.attnum > 0 and not a.attisdropped
        and m.relation is not null
    loop
      if c.source is null then
        raise exception 'The comment on %.%.% cites %, which has none.', c.nspname, c.relname, c.attname, c.relation;
      end if;
      if c.source not like 'As in %' then
        execute format('comment on column %I.%I.%I is %L', c.nspname, c.relname, c.attname, concat_ws(' ', c.source, c.more));
        replaced := true;
      end if;
    end loop;
    exit when not replaced;
  end loop;
end
$$;
