-- Deletes pauses that ended before a time from some blocks of the table, after due times of the nightly run were
-- deleted. A due time that is kept is later than the pause or has a run, so that reporting.nightly stays as it is.
-- Params: $1 before, $2 firstBlock, $3 endBlock, $4 isDryRun (counts what would be deleted).
-- Never null: number.
with old as (
  select ctid as place from sync.pauses
  where ctid >= format('(%s,0)', $2::int)::tid and ctid < format('(%s,0)', $3::int)::tid and paused_until < $1
), gone as (
  delete from sync.pauses where not $4::boolean and ctid = any(array(select place from old))
)
select count(*)::int as number from old
