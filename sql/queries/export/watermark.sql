-- Time of the snapshot, start time for the next export, and cursor of the feed of changes.
-- Params: none.
-- Never null: taken_at, next_since, cursor.
select taken_at, next_since, reporting.changes_cursor() as cursor from reporting.export_times()
