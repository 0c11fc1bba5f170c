-- Updates names that differ from those in the lines. Annotations have no names.
-- Params: none.
-- Never null: organizations, documents, annotations, user_groups.
with organization as (
  update collab_store.organizations s set name = n.name
  from import_names n
  where n.kind = 'organization' and s.organization_id = n.organization_id and s.name is distinct from n.name
  returning 1
), document as (
  update collab_store.documents s set name = n.name
  from import_names n
  join collab_store.organizations o using (organization_id)
  where n.kind = 'document' and s.organization_key = o.organization_key and s.document_id = n.id
    and s.name is distinct from n.name
  returning 1
), user_group as (
  update collab_store.user_groups s set name = n.name
  from import_names n
  join collab_store.organizations o using (organization_id)
  where n.kind = 'user_group' and s.organization_key = o.organization_key and s.organization_user_group_id = n.id
    and s.name is distinct from n.name
  returning 1
)
select (select count(*) from organization) as organizations, (select count(*) from document) as documents,
  0 as annotations, (select count(*) from user_group) as user_groups
