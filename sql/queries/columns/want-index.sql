-- Notes that an index on an added column is wanted.
-- Params: $1 object, $2 name.
update collab_store.added_columns set is_indexed = true where object = $1 and name = $2
