-- Records restored rows as written now, so that only passes that begin later count as checks of them.
-- Params: none.
update collab_store.recent_threads
set written_in = pg_current_xact_id()
where written_in >= pg_snapshot_xmax(pg_current_snapshot())
