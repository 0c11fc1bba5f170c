-- Adds documents that a line names and the catalog lacks.
-- Params: none.
insert into collab_store.documents (organization_key, document_id, name)
select i.organization_key, i.document_id, n.name
from import_documents i
join collab_store.organizations o using (organization_key)
left join import_names n on n.kind = 'document' and n.organization_id = o.organization_id and n.id = i.document_id
where not exists (
  select from collab_store.documents d where d.organization_key = i.organization_key and d.document_id = i.document_id
)
order by i.organization_key, i.document_id collate "C";
