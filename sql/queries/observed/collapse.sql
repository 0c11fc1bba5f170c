-- Removes the keys of objects that have too many of them: they may be IDs. One path stands for all.
-- Params: $1 crowded (json): object, path.
with crowded as (
  select * from jsonb_to_recordset($1) c (object text, path text[])
), forgotten as (
  delete from sync.member_changes n
  using crowded c
  where n.object = c.object and n.path[:cardinality(c.path)] = c.path
    and cardinality(n.path) > cardinality(c.path) and n.path[cardinality(c.path) + 1] not in ('[]', '*')
)
delete from collab_store.observed_members o
using crowded c
where o.object = c.object and o.path[:cardinality(c.path)] = c.path
  and cardinality(o.path) > cardinality(c.path) and o.path[cardinality(c.path) + 1] not in ('[]', '*')
