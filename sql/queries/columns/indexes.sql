-- What there is to do so that each added column has the index that is wanted, and no other is there: what was broken off
-- before is begun anew. Not inside a transaction.
-- Params: none.
-- Never null: statement.
with present as (
  select c.relname, i.indisvalid
  from pg_index i
  join pg_class c on c.oid = i.indexrelid
  where c.relnamespace = 'collab_store'::regnamespace and c.relname ~ '^(comments|users)_added_[0-9]+(_ccnew[0-9]*)?$'
), wanted as (
  select format('%s_added_%s', a.object, a.number) as relname, a.object,
    format('collab_store.%I(%s)', 'as_' || a.type, collab_store.member_expression(a.member, a.stored_in, '')) as expression
  from collab_store.added_columns a
  where a.is_indexed
)
select format('drop index concurrently collab_store.%I', p.relname) as statement, 1 as place
from present p
where not p.indisvalid or not exists (select from wanted w where w.relname = p.relname)
union all
select s.statement, s.place
from wanted w
cross join lateral (values
  (format('create index concurrently %I on collab_store.%I ((%s)) where %3$s is not null', w.relname, w.object, w.expression), 2),
  (format('comment on index collab_store.%I is ''Of an added column.''', w.relname), 3),
  (format('analyze collab_store.%I', w.object), 4)
) s (statement, place)
where not exists (select from present p where p.relname = w.relname and p.indisvalid)
order by place
