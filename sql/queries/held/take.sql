-- A held listing, locked against other decisions; nothing if it is resolved already, or if a later run has received another
-- response.
-- Params: $1 heldId, $2 runId.
-- Never null: operation, kind, scope_key, batch_key, scope_no, organization_id, missing_user_ids, missing_user_ids[], now.
-- Typed as: operation collab_store.batches.operation.
select x.operation, h.kind, h.scope_key, h.batch_key, x.scope_no, h.organization_id, h.document_id, h.organization_user_group_id,
  h.missing_user_ids, now() as now
from sync.held h
join collab_store.listings x using (batch_key, operation, kind, scope_key)
where h.held_id = $1 and h.run_id = $2 and h.resolved_at is null
for update of h
