-- Deletes failures of finished runs from some blocks of the table. A run with a held removal is kept.
-- Params: $1 before, $2 firstBlock, $3 endBlock.
delete from sync.failures
where ctid >= format('(%s,0)', $2::int)::tid and ctid < format('(%s,0)', $3::int)::tid
  and run_id in (
    select r.run_id from sync.runs r
    where r.finished_at < $1 and not exists (select from sync.held h where h.run_id = r.run_id and (h.resolved_at is null or h.is_standing))
  )
