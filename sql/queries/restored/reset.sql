-- After a dump of a server with higher transaction numbers was restored, replaces the numbers that this server has not reached.
-- Changes get 0: otherwise the feed would return them as new when this server reaches their numbers. Changes written here have
-- lower transaction numbers, and are numbered after those of the dump. Threads count as written now, and passes and their pages
-- have seen no write of this server, so that only passes that begin later count as checks.
-- Params: none.
with changes as (
  update collab_store.changes
  set xid = '0'
  -- One row of the index tells whether there are any, even if the table was never analyzed.
  where (select xid from collab_store.changes order by xid desc limit 1) >= pg_snapshot_xmax(pg_current_snapshot())
    and xid <> '0'
    and number <= (select max(number) from collab_store.changes where xid >= pg_snapshot_xmax(pg_current_snapshot()))
), threads as (
  update collab_store.recent_threads
  set written_in = pg_current_xact_id()
  where written_in >= pg_snapshot_xmax(pg_current_snapshot())
), passes as (
  update sync.refresh_passes
  set snapshot = '0', whole_snapshot = '0'
  where greatest(snapshot, whole_snapshot) >= pg_snapshot_xmax(pg_current_snapshot())
)
update sync.refresh_pages
set pass_snapshot = '0'
where pass_snapshot >= pg_snapshot_xmax(pg_current_snapshot())
