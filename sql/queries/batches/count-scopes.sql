-- Number of scopes to fetch, as of the last catalog import.
-- Params: $1 operations.
-- Never null: scopes.
select coalesce(sum(b.scopes), 0)::bigint as scopes
from collab_store.batches b
join collab_store.organizations o using (organization_key)
where o.active and b.operation = any($1)
