-- Deletes due times of the nightly run from some blocks of the table. Due times of runs that stay are kept.
-- Params: $1 before, $2 firstBlock, $3 endBlock, $4 isDryRun (counts what would be deleted).
-- Never null: number.
with old as (
  select ctid as place from sync.nightly_due
  where ctid >= format('(%s,0)', $2::int)::tid and ctid < format('(%s,0)', $3::int)::tid and due_at < $1
    and due_at not in (select n.due_at from reporting.nightly n where n.run_id is not null and n.run_id not in (select sync.old_runs($1)))
), gone as (
  delete from sync.nightly_due where not $4::boolean and ctid = any(array(select place from old))
)
select count(*)::int as number from old
