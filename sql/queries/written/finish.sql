-- Notes that all stored comments have the time at which they were written.
-- Params: none.
update collab_store.definitions set written_members_before = null where written_members_before is not null
