-- Batches with scopes to fetch, in the order of their keys.
-- Params: $1 after (last key of the previous page), $2 operations, $3 organizationIds?, $4 limit.
select b.batch_key, b.operation
from collab_store.batches b
join collab_store.organizations o using (organization_key)
where b.batch_key > $1 and b.scopes > 0 and b.operation = any($2)
  and o.active and ($3::text[] is null or o.organization_id = any($3))
order by b.batch_key
limit $4
