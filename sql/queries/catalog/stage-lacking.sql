-- Stages active scopes that no line names.
-- Params: none.
insert into import_lacking (kind, organization_key, key)
select 'organization' as kind, o.organization_key, o.organization_key as key
from collab_store.organizations o
where o.active and not exists (select from import_lines i where i.organization_id = o.organization_id)
union all
select 'document', o.organization_key, d.document_key
from collab_store.documents d
join collab_store.organizations o using (organization_key)
where d.active and not exists (
  select from import_lines i where i.organization_id = o.organization_id and i.document_id = d.document_id)
union all
select 'group', o.organization_key, g.user_group_key
from collab_store.user_groups g
join collab_store.organizations o using (organization_key)
where g.active and not exists (
  select from import_lines i
  where i.organization_id = o.organization_id and i.organization_user_group_id = g.organization_user_group_id)
union all
select 'annotation', o.organization_key, a.annotation_key
from collab_store.annotations a
join collab_store.documents d using (document_key)
join collab_store.organizations o using (organization_key)
where a.active and not exists (
  select from import_lines i
  where i.organization_id = o.organization_id and i.document_id = d.document_id and i.annotation_id = a.annotation_id)
