-- Numbers new annotations after the existing ones of their organization, by document, so that the annotations of a
-- document share batches.
-- Params: none.
create temp table import_new_annotations on commit drop as
select i.organization_key, i.document_key, i.annotation_id,
  (coalesce(b.scopes, 0) - 1 + row_number() over (
    partition by i.organization_key order by i.document_key, i.annotation_id collate "C"
  ))::integer as number
from import_annotations i
left join (
  select organization_key, sum(assigned) as scopes from collab_store.batches where operation = 'comments' group by 1
) b using (organization_key)
where not exists (
  select from collab_store.annotations a
  where a.document_key = i.document_key and a.annotation_id = i.annotation_id
);
