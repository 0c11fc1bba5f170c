-- Stages the documents that the lines name, also those that only an annotation's line names.
-- Params: none.
create temp table import_documents on commit drop as
select distinct o.organization_key, i.document_id
from import_lines i
join collab_store.organizations o using (organization_id)
where i.document_id is not null;
-- The planner needs their number.
analyze import_documents;
