-- Delay until changes were found, of all organizations together, for the last seven final days.
-- Params: none.
-- Never null: day, changes, undated.
select v.day::text as day, v.changes, v.undated, v.p50_seconds::float8 as p50_s, v.p95_seconds::float8 as p95_s,
  v.mean_seconds::float8 as mean_s, v.within_target_share::float8 as within_target
from reporting.change_delay_daily v
where v.organization_id is null and v.is_final and v.day >= (select (stale_before - interval '9 days')::date from collab_store.promise)
order by v.day desc
limit 7
