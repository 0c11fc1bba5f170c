-- Marks as well what was reported of missing and late nightly runs, once a scheduled run of that night or later succeeded.
-- Params: none.
-- Never null: finished_at, problems.
with newest as (
  select run_id, requested_at, finished_at from sync.runs
  where trigger = 'schedule' and status = 'succeeded'
  order by requested_at desc
  limit 1
), well as (
  update sync.notifications n
  set well_at = now()
  from newest
  where n.subject = 'nightly' and n.well_at is null
    and newest.requested_at >= (n.facts ->> 'dueAt')::timestamptz - interval '1 minute'
  returning newest.run_id, newest.finished_at
)
select run_id, finished_at, count(*)::int as problems from well group by run_id, finished_at
