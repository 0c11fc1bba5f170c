-- Random scopes, by batch: each scope is as likely as any other. The places are indexes into the scopes of the batch.
-- Params: $1 operations, $2 limit.
-- Never null: batch_key, operation, places, places[].
-- Typed as: operation collab_store.batches.operation.
select batch_key, operation, array_agg(place) as places
from (
  select b.batch_key, b.operation, place
  from collab_store.batches b
  join collab_store.organizations o using (organization_key)
  cross join generate_series(0, b.scopes - 1) as place
  where o.active and b.operation = any($1)
  order by random()
  limit $2
) drawn
group by 1, 2
