-- Deletes records that were rejected and last received before a time from some blocks of the table.
-- Params: $1 before, $2 firstBlock, $3 endBlock, $4 isDryRun (counts what would be deleted).
-- Never null: number.
with old as (
  select ctid as place from sync.rejected_records
  where ctid >= format('(%s,0)', $2::int)::tid and ctid < format('(%s,0)', $3::int)::tid and at < $1
), gone as (
  delete from sync.rejected_records where not $4::boolean and ctid = any(array(select place from old))
)
select count(*)::int as number from old
