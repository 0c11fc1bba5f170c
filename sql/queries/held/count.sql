-- Number of held removals, pending approval or refused, and of the people missing from them.
-- Params: $1 heldId?, $2 runId?, $3 organizationId?, $4 isRefused (false for those pending approval).
-- Never null: listings, people.
select count(distinct held_id)::int as listings, count(distinct (organization_id, user_id))::int as people
from sync.held_users
where held_id in (
    select held_id from sync.held where $4::boolean and resolution = 'refused' and ($2::uuid is null or run_id = $2)
    union all
    select held_id from sync.open_holds where not $4
  )
  and ($1::bigint is null or held_id = $1) and ($2 is null or run_id = $2) and ($3::text is null or organization_id = $3)
