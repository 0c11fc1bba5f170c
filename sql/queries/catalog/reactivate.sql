-- Reactivates scopes that a line names. Each keeps its own time of the last check, because the batch's time changed
-- without it.
-- Params: none.
-- Never null: organizations, documents, annotations, user_groups.
with organization as (
  update collab_store.organizations s set active = true
  where not s.active
    and exists (select from import_lines i where i.organization_id = s.organization_id)
  returning s.organization_key as key
), document as (
  update collab_store.documents s set active = true
  where not s.active
    and exists (
      select from import_documents i
      where i.organization_key = s.organization_key and i.document_id = s.document_id
    )
  returning s.document_key as key
), annotation as (
  update collab_store.annotations s set active = true
  where not s.active
    and exists (
      select from import_annotations i
      where i.document_key = s.document_key and i.annotation_id = s.annotation_id
    )
  returning s.batch_key
), user_group as (
  update collab_store.user_groups s set active = true
  where not s.active
    and exists (
      select from import_user_groups i
      where i.organization_key = s.organization_key
        and i.organization_user_group_id = s.organization_user_group_id
    )
  returning s.user_group_key as key
), listing as (
  update collab_store.listings s set active = true
  from (
    select 'organization' as kind, key from organization
    union all select 'document', key from document
    union all select 'group', key from user_group
  ) x
  where s.kind = x.kind and s.scope_key = x.key
  returning s.batch_key
), touched as (
  insert into import_touched_batches select batch_key from listing union select batch_key from annotation
)
select (select count(*) from organization) as organizations, (select count(*) from document) as documents,
  (select count(*) from annotation) as annotations, (select count(*) from user_group) as user_groups
