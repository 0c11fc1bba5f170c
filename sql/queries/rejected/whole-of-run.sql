-- Whole records that a run rejected and nobody has set aside: how many, in how many scopes, and why most of them.
-- Params: $1 runId.
-- Never null: records, scopes.
select count(*)::int as records,
  count(distinct (operation, organization_id, document_id, annotation_id, organization_user_group_id))::int as scopes,
  mode() within group (order by reason) as reason
from sync.unstored_records
where run_id = $1 and is_whole and set_aside_at is null
