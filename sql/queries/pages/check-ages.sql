-- Scopes by the age of the last check of the batch they lie in, from the batches alone: one row for each age, the youngest
-- first, then those older than every bound, then those never checked. Scopes that differ from their batch are in
-- reporting.freshness.
-- Params: $1 bounds (upper bounds of the ages in seconds, the lowest first).
-- Never null: scopes.
with batches as (
  select b.scopes,
    case when b.checked_at is null then cardinality($1::float8[]) + 1
      else width_bucket(extract(epoch from now() - b.checked_at)::float8, $1::float8[]) end as age_group
  from collab_store.batches b
  join collab_store.organizations o using (organization_key)
  where o.active
)
select coalesce(sum(b.scopes), 0)::bigint as scopes
from generate_series(0, cardinality($1::float8[]) + 1) age_group
left join batches b using (age_group)
group by age_group
order by age_group
