-- Takes an added column away from the views.
-- Params: $1 object, $2 name.
select collab_store.remove_column($1, $2)
