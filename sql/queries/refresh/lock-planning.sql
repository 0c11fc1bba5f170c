-- One worker plans at a time. A lock of the rows would write a record for each of them.
-- Params: none.
-- Prepared.
select pg_advisory_xact_lock(40130713)
