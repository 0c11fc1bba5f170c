-- Committed changes that the feed does not give yet, and for whose open transaction it waits.
-- Params: none.
-- Never null: lines.
select lines, since, pid, role_name, database_name, application_name from reporting.changes_held_back()
