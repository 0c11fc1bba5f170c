-- Counts the active scopes of the batches that this import touched.
-- Params: none.
update collab_store.batches b set scopes = n.scopes
from (
  select t.batch_key, count(s.batch_key)::integer as scopes
  from (select distinct batch_key from import_touched_batches) t
  left join collab_store.scopes s on s.batch_key = t.batch_key and s.active
  group by t.batch_key
) n
where b.batch_key = n.batch_key and b.scopes is distinct from n.scopes;
