-- Number of held removals pending approval, and of the people missing from them: of all, or of a listing, a run or an
-- organization.
-- Params: $1 heldId?, $2 runId?, $3 organizationId?.
-- Never null: listings, people.
select count(distinct held_id)::int as listings, count(distinct (organization_id, user_id))::int as people
from sync.held_users
where ($1::bigint is null or held_id = $1) and ($2::uuid is null or run_id = $2) and ($3::text is null or organization_id = $3)
