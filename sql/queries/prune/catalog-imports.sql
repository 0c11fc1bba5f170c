-- Deletes imports of the catalog from some blocks of the table, except those pending approval and those refused.
-- Params: $1 before, $2 firstBlock, $3 endBlock, $4 isDryRun (counts what would be deleted).
-- Never null: number.
with old as (
  select ctid as place from sync.catalog_imports
  where ctid >= format('(%s,0)', $2::int)::tid and ctid < format('(%s,0)', $3::int)::tid
    and last_seen_at < $1 and state not in ('held', 'refused')
), gone as (
  delete from sync.catalog_imports where not $4::boolean and ctid = any(array(select place from old))
)
select count(*)::int as number from old
