-- Waits for the turn to write users of an organization (users/take-turn.sql).
-- Params: $1 organizationKey.
select pg_advisory_xact_lock(40130711, $1)
