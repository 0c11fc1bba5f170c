-- Committed changes that the feed does not return yet, and the open transaction that it waits for.
-- Params: none.
-- Never null: lines.
select lines, since, pid, role_name, database_name, application_name from reporting.changes_held_back()
