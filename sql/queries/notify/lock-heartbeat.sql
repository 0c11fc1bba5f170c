-- Locks a heartbeat until the transaction ends, unless another process has locked it.
-- Params: $1 receiver.
-- Never null: is_locked.
-- Prepared.
select pg_try_advisory_xact_lock(hashtextextended('collab-sync heartbeat ' || $1::text, 0)) as is_locked
