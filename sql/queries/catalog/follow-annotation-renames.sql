-- As follow-renames, of annotations: by what their document is called now.
-- Params: none.
update import_lines i
set annotation_id = a.annotation_id
from collab_store.renames r
join collab_store.annotations a on a.annotation_key = r.key
join collab_store.documents d on d.document_key = r.parent_key
join collab_store.organizations o on o.organization_key = d.organization_key
where r.is_alias and r.kind = 'annotation' and i.organization_id = o.organization_id and i.document_id = d.document_id
  and i.annotation_id = r.old_id
