-- After a dump of a server with higher transaction numbers was restored, sets those of its changes to 0. Otherwise the
-- feed would return the changes as new when this server reaches their numbers. Changes written here have lower
-- transaction numbers, and are numbered after those of the dump.
-- Params: none.
update collab_store.changes
set xid = '0'
-- One row of the index tells whether there are any, even if the table was never analyzed.
where (select xid from collab_store.changes order by xid desc limit 1) >= pg_snapshot_xmax(pg_current_snapshot())
  and xid <> '0'
  and number <= (select max(number) from collab_store.changes where xid >= pg_snapshot_xmax(pg_current_snapshot()))
