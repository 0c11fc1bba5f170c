-- Deactivates user groups that no line names; their time of the last check as in deactivate-organizations.
-- Params: none.
-- Never null: scopes.
with changed as (
  update collab_store.user_groups s
  set active = false, own_checked_at = coalesce(s.own_checked_at, b.checked_at, '-infinity')
  from collab_store.batches b
  where s.active and b.batch_key = s.batch_key
    and not exists (
      select from import_user_groups i
      where i.organization_key = s.organization_key
        and i.organization_user_group_id = s.organization_user_group_id
    )
  returning s.batch_key
), touched as (
  insert into import_touched_batches select distinct batch_key from changed
)
select count(*) as scopes from changed;
