-- Resolved removals by resolution, of a listing, run or organization.
-- Params: $1 heldId?, $2 runId?, $3 organizationId?.
-- Never null: resolution, listings.
select resolution, count(*)::int as listings
from sync.held
where resolution is not null and ($1::bigint is null or held_id = $1) and ($2::uuid is null or run_id = $2)
  and ($3::text is null or organization_id = $3)
group by 1
order by 2 desc, 1
