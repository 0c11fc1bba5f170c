-- One change of the added columns at a time; the session keeps it. It does not wait: whoever waited in here would be waited
-- for by an index that is being made.
-- Params: none.
-- Never null: taken.
select pg_try_advisory_lock(40130712, 2) as taken
