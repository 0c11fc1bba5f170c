-- Scheduled runs: whether one began since the last was due, the one under way, and how long they usually take (the median
-- of the last 14 that ended by themselves, since a person last set the schedule).
-- Params: $1 dueAt (of the last one).
-- Never null: began, usual_of.
select
  exists (
    -- Clocks differ: one that is a minute early is that night's.
    select from sync.runs where trigger = 'schedule' and requested_at >= $1::timestamptz - interval '1 minute'
  ) as began,
  running.run_id, running.requested_at, extract(epoch from now() - running.requested_at)::int as running_s,
  usual.runs as usual_of, round(usual.seconds)::int as usual_s
from (
  select count(*)::int as runs,
    percentile_cont(0.5) within group (order by extract(epoch from finished_at - requested_at)::float8) as seconds
  from (
    select requested_at, finished_at from sync.runs
    where trigger = 'schedule' and status in ('succeeded', 'partial')
      and requested_at >= coalesce((select set_at from sync.schedule), '-infinity')
    order by requested_at desc
    limit 14
  ) past
) usual
left join (
  select run_id, requested_at from sync.runs where trigger = 'schedule' and status in ('queued', 'running')
) running on true
