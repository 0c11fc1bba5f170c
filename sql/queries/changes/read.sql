-- Changes after a cursor, and finally the next cursor. Rows are text, so that no number is rounded.
-- Params: $1 after?, $2 maxChanges, $3 objects?.
-- Never null: cursor.
select cursor, object, change, key::text as key, row::text as row, at, run_id, person
from reporting.changes_as_json($1, $2, $3)
