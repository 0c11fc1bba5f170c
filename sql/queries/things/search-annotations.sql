-- Annotations with exactly this ID in a part of all documents, at most 21. Each document is probed once, because no index begins
-- with the ID of an annotation. A part has blocks of documents, because neighbours share pages of the index.
-- Params: $1 id, $2 part (from 0), $3 parts.
-- Never null: kind, ids.
select 'annotation' as kind,
  jsonb_build_object('organizationId', o.organization_id, 'documentId', d.document_id, 'annotationId', a.annotation_id) as ids,
  null::text as name
from collab_store.documents d
cross join lateral (
  select annotation_id from collab_store.annotations
  where document_key = d.document_key and annotation_id = $1
  offset 0
) a
join collab_store.organizations o using (organization_key)
where d.document_key / 1024 % $3 = $2
order by o.organization_id, d.document_id
limit 21
