-- Deactivates annotations that no line names; their time of the last check as in deactivate-organizations.
-- Params: none.
-- Never null: scopes.
with changed as (
  update collab_store.annotations s
  set active = false, own_checked_at = coalesce(s.own_checked_at, b.checked_at, '-infinity')
  from collab_store.batches b
  where s.active and b.batch_key = s.batch_key
    and not exists (
      select from import_annotations i
      where i.document_key = s.document_key and i.annotation_id = s.annotation_id
    )
  returning s.batch_key
), touched as (
  insert into import_touched_batches select distinct batch_key from changed
)
select count(*) as scopes from changed;
