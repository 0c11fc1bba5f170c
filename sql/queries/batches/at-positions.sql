-- The batches of some scopes and the positions of the scopes in them, if all scopes are counted from 0 through the
-- batches in the order of their keys. Reads the batches (a few thousand for a million scopes) and none of the scopes.
-- Params: $1 operations, $2 positions.
-- Never null: batch_key, operation, places, places[].
-- Typed as: operation collab_store.batches.operation.
with counted as (
  select b.batch_key, b.operation, b.scopes, sum(b.scopes) over (order by b.batch_key) as up_to
  from collab_store.batches b
  join collab_store.organizations o using (organization_key)
  where o.active and b.scopes > 0 and b.operation = any($1)
), listed as materialized (
  select array_agg(batch_key order by batch_key) as batch_keys, array_agg(operation order by batch_key) as operations,
    array_agg(up_to - scopes order by batch_key) as from_positions, array_agg(up_to order by batch_key) as up_to
  from counted
)
select batch_keys[place] as batch_key, operations[place] as operation,
  array_agg((position - from_positions[place])::int order by position) as places
from listed
cross join unnest($2::bigint[]) as position
-- Binary search: the number of batches that end at or before the position.
cross join lateral (select width_bucket(position, up_to) + 1 as place) p
where place <= cardinality(batch_keys)
group by 1, 2
order by 1
