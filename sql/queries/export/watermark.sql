-- When the picture was taken, from when on the next export has to look, and from where on the feed of changes goes on.
-- Params: none.
-- Never null: taken_at, next_since, cursor.
select taken_at, next_since, reporting.changes_cursor() as cursor from reporting.export_times()
