-- Assigns the least recently checked batches to a worker, without those being polled or polled recently: as many as have $2
-- scopes together, at most 64.
-- Params: $1 operations, $2 polls, $3 notSince, $4 at (a later check is from before the clock was set back), $5 workerId.
-- Never null: keys, keys[].
-- Prepared.
insert into sync.refresh_pages (class, pass, batch_keys, worker_id, claimed_at)
select s.class, s.pass, array_agg(d.batch_key order by d.checked_at nulls first, d.batch_key), $5, $4
from sync.refresh_passes s
cross join (
  select c.*, sum(c.scopes) over (order by c.checked_at nulls first, c.batch_key) - c.scopes as scopes_before
  from (
    select b.batch_key, b.checked_at, b.scopes
    from collab_store.batches b
    join collab_store.organizations o using (organization_key)
    where o.active and b.scopes > 0 and b.operation = any($1)
      and (b.checked_at is null or b.checked_at not between $3 and $4)
      -- An anti join would sort all batches of a large catalog, and not only keep the first ones.
      and b.batch_key not in (select unnest(p.batch_keys) from sync.refresh_pages p)
    order by b.checked_at nulls first, b.batch_key
    limit 64
  ) c
) d
where s.class = 7 and d.scopes_before < $2
group by s.class
returning page_id, batch_keys as keys
