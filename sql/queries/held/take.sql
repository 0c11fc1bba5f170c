-- A held listing, locked against other decisions; nothing if it is resolved already, or if a later run has received another
-- response.
-- Params: $1 heldId, $2 runId.
-- Never null: missing_user_ids[], now.
select kind, scope_key, organization_id, document_id, organization_user_group_id, missing_user_ids, now() as now
from sync.held
where held_id = $1 and run_id = $2 and resolved_at is null
for update
