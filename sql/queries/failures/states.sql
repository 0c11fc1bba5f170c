-- How many scopes that failed in a run were resolved since, still fail, and left the catalog. A scope that failed more
-- than once in a run, as in a day of continuous refresh, counts once.
-- Params: $1 runId.
-- Never null: resolved, failing, left_catalog.
select count(*) filter (where not is_open)::int as resolved, count(*) filter (where is_open and is_failing)::int as failing,
  count(*) filter (where is_open and not is_failing)::int as left_catalog
from (
  select bool_or(f.resolved_at is null) as is_open, bool_or(x.batch_key is not null) as is_failing
  from sync.failures f
  left join sync.failing_scopes x on f.resolved_at is null and x.batch_key = f.batch_key and x.scope_no = f.scope_no
  where f.run_id = $1
  group by f.batch_key, f.scope_no
) scopes
