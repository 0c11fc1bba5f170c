-- Listings that are held and wait for a person, the oldest first.
-- Params: $1 runId?, $2 limit.
-- Never null: users_missing, first_missing_user_ids, first_missing_user_ids[], listings.
select run_id, at, kind, organization_id, document_id, organization_user_group_id, users_before, repeats,
  cardinality(missing_user_ids) as users_missing, missing_user_ids[1:5] as first_missing_user_ids,
  count(*) over ()::int as listings
from sync.held
where resolved_at is null and ($1::uuid is null or run_id = $1)
order by at, held_id
limit $2
