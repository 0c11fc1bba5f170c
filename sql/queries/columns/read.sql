-- Added columns, and whether the index of each is there: false where its making was broken off, null where there is none.
-- Params: $1 object?, $2 name?.
select c.object, c.name, c.member, c.type, c.stored_in, c.is_indexed,
  (select i.indisvalid from pg_index i
    where i.indexrelid = to_regclass(format('collab_store.%s_added_%s', c.object, c.number))) as is_index_whole
from collab_store.added_columns c
where ($1::text is null or c.object = $1) and ($2::text is null or c.name = $2)
order by c.object, c.number
