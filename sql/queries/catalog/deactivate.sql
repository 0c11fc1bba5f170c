-- Deactivates the scopes staged as lacking. Stores the time of the last check with each scope, because the batch's time
-- changes without it.
-- Params: none.
-- Never null: organizations, documents, annotations, user_groups.
with organization as (
  update collab_store.organizations s set active = false
  from import_lacking l where s.active and l.kind = 'organization' and l.key = s.organization_key
  returning 1
), document as (
  update collab_store.documents s set active = false
  from import_lacking l where s.active and l.kind = 'document' and l.key = s.document_key
  returning 1
), user_group as (
  update collab_store.user_groups s set active = false
  from import_lacking l where s.active and l.kind = 'group' and l.key = s.user_group_key
  returning 1
), listing as (
  update collab_store.listings s
  set active = false, own_checked_at = coalesce(s.own_checked_at, b.checked_at, '-infinity')
  from import_lacking l, collab_store.batches b
  where s.active and l.kind = s.kind and l.key = s.scope_key and b.batch_key = s.batch_key
  returning s.batch_key
), annotation as (
  update collab_store.annotations s
  set active = false, own_checked_at = coalesce(s.own_checked_at, b.checked_at, '-infinity')
  from import_lacking l, collab_store.batches b
  where s.active and l.kind = 'annotation' and l.key = s.annotation_key and b.batch_key = s.batch_key
  returning s.batch_key
), touched as (
  insert into import_touched_batches select batch_key from listing union select batch_key from annotation
)
select (select count(*) from organization) as organizations, (select count(*) from document) as documents,
  (select count(*) from annotation) as annotations, (select count(*) from user_group) as user_groups
