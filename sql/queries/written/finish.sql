-- Records that all stored comments have their writing time.
-- Params: none.
update collab_store.definitions set written_members_before = null where written_members_before is not null
