-- Deletes from the feed of changes, from some blocks of the table, and stores how far, because older cursors have then
-- missed changes. Rows restored from a dump of another server may have transaction numbers that this server has not
-- reached yet, and are not counted.
-- Params: $1 before, $2 firstBlock, $3 endBlock, $4 isDryRun (counts what would be deleted).
-- Never null: number.
with old as (
  select ctid as place from collab_store.changes
  where ctid >= format('(%s,0)', $2::int)::tid and ctid < format('(%s,0)', $3::int)::tid and at < $1
), gone as (
  delete from collab_store.changes where not $4::boolean and ctid = any(array(select place from old))
  returning xid, number
), noted as (
  update collab_store.changes_pruned p
  set feed = n.feed, xid = case when p.feed = n.feed then greatest(p.xid, n.xid) else n.xid end,
    number = case when p.feed = n.feed then greatest(p.number, n.number) else n.number end,
    pruned_before = greatest(p.pruned_before, $1)
  from (
    select collab_store.feed_identity() as feed, (array_agg(xid order by xid desc))[1] as xid, max(number) as number
    from gone
    where xid < pg_snapshot_xmax(pg_current_snapshot())
  ) n
  where n.xid is not null
)
select count(*)::int as number from old
