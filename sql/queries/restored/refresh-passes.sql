-- Records that restored passes have seen no write of this server. Otherwise rows that are written later would count as
-- checked by them.
-- Params: none.
update sync.refresh_passes
set snapshot = '0', whole_snapshot = '0'
where greatest(snapshot, whole_snapshot) >= pg_snapshot_xmax(pg_current_snapshot())
