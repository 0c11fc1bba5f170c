-- Whether it is this transaction's turn to write users of an organization, until its end. Nobody waits here: of two
-- transactions with a new user in common one would wait, with all its locks, for the other's end.
-- Params: $1 organizationKey.
-- Never null: taken.
select pg_try_advisory_xact_lock(40130711, $1) as taken
