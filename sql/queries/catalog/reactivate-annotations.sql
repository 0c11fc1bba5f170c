-- Activates annotations that a line names again; their time of the last check as in reactivate-organizations.
-- Params: none.
-- Never null: scopes.
with changed as (
  update collab_store.annotations s set active = true
  where not s.active
    and exists (
      select from import_annotations i
      where i.document_key = s.document_key and i.annotation_id = s.annotation_id
    )
  returning s.batch_key
), touched as (
  insert into import_touched_batches select distinct batch_key from changed
)
select count(*) as scopes from changed;
