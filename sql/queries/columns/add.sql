-- Adds a column to the views.
-- Params: $1 object, $2 name, $3 member, $4 type, $5 storedIn?, $6 isIndexed.
select collab_store.add_column($1, $2, $3, $4, $5, $6)
