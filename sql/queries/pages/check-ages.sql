-- Scopes by the age of their last successful check: one row per age bound, youngest first, then those older than all
-- bounds, then those never checked.
-- Params: $1 bounds (upper bounds of the ages in seconds, the lowest first).
-- Never null: scopes.
with checks as (
  select c.scopes,
    case when c.checked_at is null then cardinality($1::float8[]) + 1
      else width_bucket(extract(epoch from now() - c.checked_at)::float8, $1::float8[]) end as age_group
  from collab_store.checks c
)
select coalesce(sum(c.scopes), 0)::bigint as scopes
from generate_series(0, cardinality($1::float8[]) + 1) age_group
left join checks c using (age_group)
group by age_group
order by age_group
