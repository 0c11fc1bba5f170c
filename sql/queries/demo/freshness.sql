-- Age of the last successful checks by operation and level.
-- Params: none.
-- Never null: operation, level, checked, never_checked.
select operation, level, count(*)::int as checked, count(*) filter (where checked_at is null)::int as never_checked,
  min(checked_at) as oldest_check
from reporting.freshness
group by operation, level
order by count(*)
