-- Scopes by the age of the last check of the batch they lie in, from the batches alone. Scopes that differ from their batch
-- are in reporting.freshness.
-- Params: $1 bounds (upper bounds of the ages in seconds, the lowest first).
-- Never null: scopes.
select case when b.checked_at is null then null
    else width_bucket(extract(epoch from now() - b.checked_at)::float8, $1::float8[]) end as age_group,
  sum(b.scopes)::bigint as scopes
from collab_store.batches b
join collab_store.organizations o using (organization_key)
where o.active and b.scopes > 0
group by 1
