-- Allows one caller at a time to create a run for a scope, until the transaction ends.
-- Params: $1 scope.
select pg_advisory_xact_lock(40130712, hashtext($1::jsonb::text))
