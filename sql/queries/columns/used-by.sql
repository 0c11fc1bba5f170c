-- What is made of an added column, and what is made of its views in a way that no replacing follows; but for comment_lines,
-- which remove_column makes anew.
-- Params: $1 object, $2 name.
-- Never null: used_by.
select distinct case when r.oid is null then pg_describe_object(d.classid, d.objid, d.objsubid) else 'view ' || r.oid::regclass end as used_by
from pg_attribute a
join pg_depend d on d.refclassid = 'pg_class'::regclass and d.refobjid = a.attrelid and d.deptype = 'n'
left join pg_rewrite w on d.classid = 'pg_rewrite'::regclass and w.oid = d.objid
left join pg_class r on r.oid = w.ev_class
where a.attrelid = any(collab_store.added_column_views($1)) and a.attname = $2 and r.oid is distinct from a.attrelid
  and r.oid is distinct from 'collab_store.comment_lines'::regclass
  and (d.refobjsubid = a.attnum or r.relkind is distinct from 'v')
order by used_by
