-- Does for restored pages what refresh-passes does for passes, which get the number of their last page.
-- Params: none.
update sync.refresh_pages
set pass_snapshot = '0'
where pass_snapshot >= pg_snapshot_xmax(pg_current_snapshot())
