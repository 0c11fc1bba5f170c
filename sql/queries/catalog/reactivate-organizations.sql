-- Activates organizations that a line names again. They keep their own time of the last check: the batch's
-- has gone on without them.
-- Params: none.
-- Never null: scopes.
with changed as (
  update collab_store.organizations o set active = true
  where not o.active
    and exists (select from import_lines i where i.organization_id = o.organization_id)
  returning o.organization_key
), touched as (
  insert into import_touched_batches
  select b.batch_key from changed
  join collab_store.batches b using (organization_key)
  where b.operation = 'users' and b.batch_no = 0
)
select count(*) as scopes from changed;
