-- Hears of changes as they are committed.
-- Params: none.
listen collab_sync_changes
