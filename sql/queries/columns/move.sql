-- Has an added column read its member where it is stored now.
-- Params: $1 object, $2 name, $3 storedIn?.
select collab_store.move_column($1, $2, $3)
