-- Whether one of the views has a column of that name.
-- Params: $1 object, $2 name.
-- Never null: is_in_use.
select exists (
  select from pg_attribute a where a.attrelid = any(collab_store.added_column_views($1)) and a.attname = $2
) as is_in_use
