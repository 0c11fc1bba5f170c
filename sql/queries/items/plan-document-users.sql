-- Plans the listing of one document.
-- Params: $1 runId, $2 organizationId, $3 documentId.
insert into sync.run_items (run_id, kind, organization_key, batch_key, only_scopes, scopes_planned)
select $1, 'sync-batch', d.organization_key, d.batch_key, set_bit(repeat('0', 256)::varbit, d.scope_no, 1), 1
from collab_store.documents d
join collab_store.organizations o using (organization_key)
where o.organization_id = $2 and d.document_id = $3
returning item_id, kind, round
