-- Removes scopes that the lines of an import name from the lacking scopes of the held import, because a caller has
-- requested them since.
-- Params: none.
with held as (
  delete from sync.catalog_lacking returning import_id, kind, keys
), named as (
  select 'organization' as kind, o.organization_key as key
  from (select distinct organization_id from import_lines) i
  join collab_store.organizations o using (organization_id)
  union all
  select 'document', d.document_key
  from import_documents i
  join collab_store.documents d using (organization_key, document_id)
  union all
  select 'group', g.user_group_key
  from import_user_groups i
  join collab_store.user_groups g using (organization_key, organization_user_group_id)
  union all
  select 'annotation', a.annotation_key
  from import_annotations i
  join collab_store.annotations a using (document_key, annotation_id)
)
insert into sync.catalog_lacking (import_id, kind, keys)
select import_id, kind, array_agg(key)
from (
  select h.import_id, h.kind, k.key, (row_number() over (partition by h.kind order by k.key) - 1) / 10000 as part
  from held h
  cross join unnest(h.keys) as k (key)
  where not exists (select from named n where n.kind = h.kind and n.key = k.key)
) remaining
group by import_id, kind, part
