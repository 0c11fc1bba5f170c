-- The time of check of scopes that were checked well, where it is not their batch's; null gives them back to the batch.
-- Params: $1 keys, $2 at?.
update collab_store.documents set own_checked_at = $2, failing_since = null where document_key = any($1)
