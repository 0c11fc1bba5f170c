-- Documents that the lines name, also those named by an annotation's line only.
-- Params: none.
create temp table import_documents on commit drop as
select distinct o.organization_key, i.document_id
from import_lines i
join collab_store.organizations o using (organization_id)
where i.document_id is not null;
-- The planner needs to know how many they are.
analyze import_documents;
