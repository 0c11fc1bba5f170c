-- Held removals pending approval by organization, oldest first; one page or all.
-- Params: $1 heldId?, $2 runId?, $3 organizationId?, $4 after? (last id of the previous page), $5 mostOfOrganization?, $6 limit?.
-- Never null: users_missing.
with waiting as (
  select h.*, row_number() over (partition by h.organization_id order by h.held_id) as place
  from sync.open_holds
  join sync.held h using (held_id)
  where ($1::bigint is null or h.held_id = $1) and ($2::uuid is null or h.run_id = $2)
    and ($3::text is null or h.organization_id = $3)
)
select held_id, batch_key, run_id, at, kind, organization_id, document_id, organization_user_group_id, users_before, repeats,
  cardinality(missing_user_ids) as users_missing
from waiting
where ($5::bigint is null or place <= $5)
  and ($4::bigint is null or (organization_id, held_id) > (select organization_id, held_id from sync.held where held_id = $4))
order by organization_id, held_id
limit $6
