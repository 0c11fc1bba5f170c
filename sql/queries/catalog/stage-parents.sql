-- Stages the user groups and the documents that the lines name, also documents that only an annotation's line names.
-- Params: none.
create temp table import_user_groups on commit drop as
select distinct o.organization_key, i.organization_user_group_id
from import_lines i
join collab_store.organizations o using (organization_id)
where i.organization_user_group_id is not null;
create temp table import_documents on commit drop as
select distinct o.organization_key, i.document_id
from import_lines i
join collab_store.organizations o using (organization_id)
where i.document_id is not null;
-- The planner needs their numbers.
analyze import_user_groups, import_documents;
