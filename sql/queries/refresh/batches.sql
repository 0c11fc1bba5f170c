-- The batches that were not checked for longest, without those that a worker polls now or polled a moment ago.
-- Params: $1 operations, $2 limit, $3 notSince, $4 at (a later check is from before the clock was set back).
-- Prepared.
select b.batch_key
from collab_store.batches b
join collab_store.organizations o using (organization_key)
where o.active and b.scopes > 0 and b.operation = any($1)
  and (b.checked_at is null or b.checked_at not between $3 and $4)
  and not exists (select from sync.refresh_pages p where b.batch_key = any(p.batch_keys))
order by b.checked_at nulls first, b.batch_key
limit $2
