-- Deletes resolved holds of finished runs from some blocks of the table. A run with a held removal is kept.
-- Params: $1 before, $2 firstBlock, $3 endBlock, $4 isDryRun (counts what would be deleted).
-- Never null: number.
with old as (
  select ctid as place from sync.held
  where ctid >= format('(%s,0)', $2::int)::tid and ctid < format('(%s,0)', $3::int)::tid
    and run_id in (select sync.old_runs($1))
), gone as (
  delete from sync.held where not $4::boolean and ctid = any(array(select place from old))
)
select count(*)::int as number from old
