-- Number of scopes to fetch, as of the last catalog import.
-- Params: $1 operations, $2 organizationIds? (null for all active ones).
-- Never null: scopes.
select coalesce(sum(b.scopes), 0)::bigint as scopes
from collab_store.batches b
join collab_store.organizations o using (organization_key)
where o.active and b.operation = any($1) and ($2::text[] is null or o.organization_id = any($2))
