-- Deactivates organizations that an import lacks. The time of their last check is kept with them from now on.
-- Params: none.
-- Never null: scopes.
with changed as (
  update collab_store.organizations o
  set active = false, own_checked_at = coalesce(o.own_checked_at, b.checked_at, '-infinity')
  from import_lacking l, collab_store.batches b
  where o.active and l.kind = 'organization' and l.key = o.organization_key
    and b.organization_key = o.organization_key and b.operation = 'users' and b.batch_no = 0
  returning b.batch_key
), touched as (
  insert into import_touched_batches select batch_key from changed
)
select count(*) as scopes from changed;
