-- Counts the active scopes of the batches that this import touched. An organization's own listing counts in
-- its users batch 0.
-- Params: none.
update collab_store.batches b set scopes = n.scopes
from (
  select t.batch_key, count(s.batch_key)::integer as scopes
  from (select distinct batch_key from import_touched_batches) t
  left join (
    select batch_key from collab_store.user_groups where active
    union all
    select batch_key from collab_store.documents where active
    union all
    select batch_key from collab_store.annotations where active
    union all
    select own.batch_key
    from collab_store.organizations o
    join collab_store.batches own using (organization_key)
    where o.active and own.operation = 'users' and own.batch_no = 0
  ) s using (batch_key)
  group by t.batch_key
) n
where b.batch_key = n.batch_key and b.scopes is distinct from n.scopes;
