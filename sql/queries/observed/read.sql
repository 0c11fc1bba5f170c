-- The observed fields, with their types.
-- Params: none.
select object, path, types from collab_store.observed_members
