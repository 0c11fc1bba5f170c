-- Age of the last successful checks by level.
-- Params: none.
-- Never null: level, checked, never_checked.
select level, count(*)::int as checked, count(*) filter (where checked_at is null)::int as never_checked,
  min(checked_at) as oldest_check
from reporting.freshness
group by level
order by count(*)
