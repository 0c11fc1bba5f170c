-- Creates the users batches for new scopes, and batch 0 of every new organization.
-- Params: none.
with added as (
  insert into collab_store.batches (organization_key, operation, batch_no)
  select organization_key, 'users', batch_no
  from (
    select organization_key, 0 as batch_no
    from collab_store.organizations where users_scopes = 0
    union
    select organization_key, number / 256 from import_new_users_scopes
  ) wanted
  order by organization_key, batch_no
  on conflict do nothing
  returning batch_key
)
insert into import_touched_batches select batch_key from added;
