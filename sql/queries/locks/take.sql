-- Waits for a lock, and holds it until the transaction ends. A row lock, because every role that can connect can hold an
-- advisory lock. Only the first use of a lock writes a row: the condition is false, but the row is locked all the same.
-- Params: $1 name, $2 organizationKey (0 for a lock of the whole installation).
-- Prepared.
insert into sync.locks (name, organization_key) values ($1, $2)
on conflict (name, organization_key) do update set name = excluded.name where false
