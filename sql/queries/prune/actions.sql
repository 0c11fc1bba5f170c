-- Deletes actions from some blocks of the table, except actions on runs that stay and those that set the current
-- schedule and pace.
-- Params: $1 before, $2 firstBlock, $3 endBlock, $4 isDryRun (counts what would be deleted).
-- Never null: number.
with old as (
  select ctid as place from sync.actions a
  where ctid >= format('(%s,0)', $2::int)::tid and ctid < format('(%s,0)', $3::int)::tid and at < $1
    and not exists (select from sync.runs r where r.run_id = a.run_id and r.run_id not in (select sync.old_runs($1)))
    and at not in (select s.set_at from sync.schedule s union all select p.set_at from sync.pace p)
), gone as (
  delete from sync.actions where not $4::boolean and ctid = any(array(select place from old))
)
select count(*)::int as number from old
