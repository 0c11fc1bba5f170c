-- The batch of each held listing that waits for a decision, the run that last received its response, and how many users it
-- lacked, the oldest first.
-- Params: $1 heldId?, $2 runId?, $3 organizationId?.
-- Never null: users_missing.
select held_id, batch_key, run_id, users_before, cardinality(missing_user_ids) as users_missing
from sync.held
where held_id in (select held_id from sync.open_holds) and ($1::bigint is null or held_id = $1) and ($2::uuid is null or run_id = $2)
  and ($3::text is null or organization_id = $3)
order by held_id
