-- Looks up lines in the catalog, in their order. A line that does not exist, or whose parents do not exist, has no keys
-- from that level on. While an import is held, no line counts as settled, because naming a line removes it from the
-- scopes that the held import lacks.
-- Params: $1 organizationIds, $2 documentIds[?], $3 annotationIds[?], $4 userGroupIds[?] (the ids of one line at the
-- same index).
-- Never null: is_active, is_stored.
select l.organization_key, l.document_key, l.annotation_key, l.user_group_key,
  l.organization_name, l.document_name, l.organization_user_group_name, l.is_active,
  l.is_active and not exists (select from sync.catalog_imports where state = 'held') as is_stored
from (
  select l.position, o.organization_key, d.document_key, a.annotation_key, g.user_group_key,
    o.name as organization_name, d.name as document_name, g.name as organization_user_group_name,
    coalesce(
      o.active and (l.document_id is null or d.active) and (l.annotation_id is null or a.active)
        and (l.user_group_id is null or g.active), false) as is_active
  from unnest($1::text[], $2::text[], $3::text[], $4::text[]) with ordinality
    as l (organization_id, document_id, annotation_id, user_group_id, position)
  left join collab_store.organizations o using (organization_id)
  left join collab_store.documents d on d.organization_key = o.organization_key
    and d.document_id = l.document_id
  left join collab_store.annotations a on a.document_key = d.document_key
    and a.annotation_id = l.annotation_id
  left join collab_store.user_groups g on g.organization_key = o.organization_key
    and g.organization_user_group_id = l.user_group_id
) l
order by l.position
