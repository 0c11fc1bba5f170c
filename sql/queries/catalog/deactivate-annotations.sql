-- Deactivates annotations that an import lacks; their time of the last check as in deactivate-organizations.
-- Params: none.
-- Never null: scopes.
with changed as (
  update collab_store.annotations s
  set active = false, own_checked_at = coalesce(s.own_checked_at, b.checked_at, '-infinity')
  from import_lacking l, collab_store.batches b
  where s.active and l.kind = 'annotation' and l.key = s.annotation_key and b.batch_key = s.batch_key
  returning s.batch_key
), touched as (
  insert into import_touched_batches select distinct batch_key from changed
)
select count(*) as scopes from changed;
