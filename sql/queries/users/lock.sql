-- Waits until no other transaction writes users of an organization, and blocks others until the end of this one.
-- Params: $1 organizationKey.
select pg_advisory_xact_lock(40130711, $1)
