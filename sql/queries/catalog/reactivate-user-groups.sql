-- Activates user groups that a line names again; their time of the last check as in reactivate-organizations.
-- Params: none.
-- Never null: scopes.
with changed as (
  update collab_store.user_groups s set active = true
  where not s.active
    and exists (
      select from import_user_groups i
      where i.organization_key = s.organization_key
        and i.organization_user_group_id = s.organization_user_group_id
    )
  returning s.batch_key
), touched as (
  insert into import_touched_batches select distinct batch_key from changed
)
select count(*) as scopes from changed;
