-- Activates documents that a line names again; their time of the last check as in reactivate-organizations.
-- Params: none.
-- Never null: scopes.
with changed as (
  update collab_store.documents s set active = true
  where not s.active
    and exists (
      select from import_documents i
      where i.organization_key = s.organization_key and i.document_id = s.document_id
    )
  returning s.batch_key
), touched as (
  insert into import_touched_batches select distinct batch_key from changed
)
select count(*) as scopes from changed;
