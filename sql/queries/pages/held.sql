-- One held listing that waits for a decision; no row where it is resolved, or left the catalog.
-- Params: $1 heldId.
-- Never null: users_missing.
select held_id, run_id, kind, organization_id, document_id, organization_user_group_id, users_before,
  cardinality(missing_user_ids) as users_missing
from sync.held
where held_id = $1 and held_id in (select held_id from sync.open_holds)
