-- Lets one import at a time number new scopes; held to the end of the transaction.
-- Params: none.
select pg_advisory_xact_lock(40130710, 2);
