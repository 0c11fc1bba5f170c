-- Forgets threads that have been quiet for longer than any class lasts: their batch sees them.
-- Params: $1 before.
delete from collab_store.recent_threads where active_at <= $1
