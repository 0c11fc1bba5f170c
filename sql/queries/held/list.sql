-- A page of held removals, pending approval or refused, oldest first.
-- Params: $1 runId?, $2 after? (highest id of the previous page), $3 limit, $4 mostUsers (listed for each), $5 heldId?,
-- $6 organizationId?, $7 isRefused? (false for those pending approval, null for any).
-- Never null: users_missing, first_missing_user_ids, first_missing_user_ids[].
select held_id, run_id, at, kind, organization_id, document_id, organization_user_group_id, users_before, users_returned, repeats,
  cardinality(missing_user_ids) as users_missing, missing_user_ids[1:$4] as first_missing_user_ids, resolved_at as decided_at,
  decided_by, reason
from sync.held
where case $7::boolean when true then resolution = 'refused' when false then held_id in (select held_id from sync.open_holds) else true end
  and ($1::uuid is null or run_id = $1) and ($2::bigint is null or held_id > $2)
  and ($5::bigint is null or held_id = $5) and ($6::text is null or organization_id = $6)
order by held_id
limit $3
