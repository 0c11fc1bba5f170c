-- Counts the scopes of the batches that this import touched, and those of them that are active.
-- Params: none.
update collab_store.batches b set scopes = n.scopes, assigned = n.assigned
from (
  select t.batch_key, count(s.batch_key)::integer as assigned, (count(s.batch_key) filter (where s.active))::integer as scopes
  from (select distinct batch_key from import_touched_batches) t
  left join collab_store.scopes s using (batch_key)
  group by t.batch_key
) n
where b.batch_key = n.batch_key and (b.scopes, b.assigned) is distinct from (n.scopes, n.assigned);
