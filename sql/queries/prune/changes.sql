-- Deletes from the feed of changes, from some blocks of the table, and stores how far, because older cursors have then missed
-- changes. Restored rows do not count whose transaction numbers this server has not reached yet.
-- Params: $1 before, $2 firstBlock, $3 endBlock, $4 isDryRun (stores nothing).
with noted as (
  update collab_store.changes_pruned p
  set feed = n.feed, xid = case when p.feed = n.feed then greatest(p.xid, n.xid) else n.xid end,
    number = case when p.feed = n.feed then greatest(p.number, n.number) else n.number end,
    pruned_before = greatest(p.pruned_before, $1)
  from (
    select collab_store.feed_identity() as feed, (array_agg(xid order by xid desc))[1] as xid, max(number) as number
    from collab_store.changes
    where ctid >= format('(%s,0)', $2::int)::tid and ctid < format('(%s,0)', $3::int)::tid and at < $1
      and xid < pg_snapshot_xmax(pg_current_snapshot())
  ) n
  where not $4::boolean and n.xid is not null
)
delete from collab_store.changes
where ctid >= format('(%s,0)', $2::int)::tid and ctid < format('(%s,0)', $3::int)::tid and at < $1
