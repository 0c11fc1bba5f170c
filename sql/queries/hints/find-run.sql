-- The run of a hint with exactly this scope that no worker has started, so that it fetches later than now. A run that
-- was planned before an annotation was added or reactivated lacks it, and is not returned.
-- Params: $1 scope, $2 organizationId, $3 documentId, $4 annotationId? (null for all of the document).
-- Never null: annotations.
select r.run_id, r.scopes_expected as annotations
from sync.runs r
where r.trigger = 'hint' and r.status = 'queued' and r.stopping is null and r.scope = $1
  and not exists (
    select from collab_store.annotations a
    join collab_store.documents d using (document_key)
    join collab_store.organizations o using (organization_key)
    left join sync.run_items i on i.run_id = r.run_id and i.batch_key = a.batch_key
    where o.organization_id = $2 and d.document_id = $3
      and case when $4::text is null then a.active else a.annotation_id = $4 end
      and (i.item_id is null or get_bit(i.only_scopes, a.scope_no) = 0))
limit 1
