-- Subscribes to notifications of committed changes.
-- Params: none.
listen collab_sync_changes
