-- Allows one worker at a time to plan. Locking the rows would write a record for each of them.
-- Params: none.
-- Prepared.
select pg_advisory_xact_lock(40130713)
