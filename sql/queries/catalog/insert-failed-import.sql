-- Records that a source could not be read. If the last failure was the same, updates its time.
-- Params: $1 source, $2 requestedBy, $3 problem.
with again as (
  update sync.catalog_imports i
  set last_seen_at = now()
  where i.import_id = (select max(l.import_id) from sync.catalog_imports l where l.source = $1)
    and i.state = 'failed' and i.problem = $3
  returning i.import_id
)
insert into sync.catalog_imports (source, requested_by, state, problem)
select $1, $2, 'failed', $3 where not exists (select from again)
