-- Stages annotations that the lines name. Their documents are in the catalog by then.
-- Params: none.
create temp table import_annotations on commit drop as
select distinct d.organization_key, d.document_key, i.annotation_id
from import_lines i
join collab_store.organizations o using (organization_id)
join collab_store.documents d
  on d.organization_key = o.organization_key and d.document_id = i.document_id
where i.annotation_id is not null;
-- The planner needs their number.
analyze import_annotations;
