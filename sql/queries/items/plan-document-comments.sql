-- Plans the annotations of one document, or one of them, grouped by the batches they lie in.
-- Params: $1 runId, $2 organizationId, $3 documentId, $4 annotationId? (null for all).
insert into sync.run_items (run_id, kind, organization_key, batch_key, only_scopes, scopes_planned)
select $1, 'sync-batch', d.organization_key, a.batch_key,
  bit_or(set_bit(repeat('0', 256)::varbit, a.scope_no, 1)), count(*)
from collab_store.annotations a
join collab_store.documents d using (document_key)
join collab_store.organizations o using (organization_key)
where o.organization_id = $2 and d.document_id = $3
  and case when $4::text is null then a.active else a.annotation_id = $4 end
group by d.organization_key, a.batch_key
order by a.batch_key
returning item_id, kind, round
