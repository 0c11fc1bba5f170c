-- A line that calls a document or a user group by an id that it had before is one of what it is called now. Before anything
-- else looks at the lines.
-- Params: none.
update import_lines i
set document_id = r.document_id, organization_user_group_id = r.organization_user_group_id
from (
  select o.organization_id, r.old_id, d.document_id, g.organization_user_group_id
  from collab_store.renames r
  join collab_store.organizations o using (organization_key)
  left join collab_store.documents d on r.kind = 'document' and d.document_key = r.key
  left join collab_store.user_groups g on r.kind = 'user_group' and g.user_group_key = r.key
  where r.is_alias and r.kind <> 'annotation'
) r
where i.organization_id = r.organization_id and coalesce(i.document_id, i.organization_user_group_id) = r.old_id
  and (i.document_id is null) = (r.document_id is null)
