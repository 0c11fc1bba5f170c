-- The batches that were not checked for longest, but for those that a worker has in hand or had a moment ago.
-- Params: $1 operations, $2 limit, $3 notSince, $4 at (what was checked later is
-- from before the clock was set back).
-- Never null: batch_xmin.
-- Prepared.
select b.batch_key, b.operation, b.scopes, b.checked_at, b.xmin::text as batch_xmin
from collab_store.batches b
join collab_store.organizations o using (organization_key)
where o.active and b.scopes > 0 and b.operation = any($1)
  and (b.checked_at is null or b.checked_at not between $3 and $4)
  and not exists (select from sync.refresh_pages p where b.batch_key = any(p.batch_keys))
order by b.checked_at nulls first, b.batch_key
limit $2
