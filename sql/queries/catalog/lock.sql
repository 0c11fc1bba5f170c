-- Allows one import at a time to number new scopes, until the end of the transaction.
-- Params: none.
select pg_advisory_xact_lock(40130710, 2);
