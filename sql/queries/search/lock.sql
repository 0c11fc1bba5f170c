-- One maker of the search index at a time; the session keeps it. It does not wait: whoever waited in here would be waited for by
-- the index.
-- Params: none.
-- Never null: taken.
select pg_try_advisory_lock(40130712, 1) as taken
