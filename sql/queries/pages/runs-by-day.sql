-- Runs requested on each of the last 30 days (UTC): total, by status, and a representative run: the worst nightly run,
-- or the worst run if there was no nightly one.
-- Params: none.
-- Never null: day, runs, succeeded, partial, failed, cancelled, under_way.
-- Typed as: shown_status sync.runs.status.
select to_char(d.day, 'YYYY-MM-DD') as day, count(r.run_id)::int as runs,
  count(*) filter (where r.status = 'succeeded')::int as succeeded,
  count(*) filter (where r.status = 'partial')::int as partial,
  count(*) filter (where r.status = 'failed')::int as failed,
  count(*) filter (where r.status = 'cancelled')::int as cancelled,
  count(r.run_id) filter (where r.finished_at is null)::int as under_way,
  (array_agg(r.run_id order by r.urgency))[1] as shown_run_id,
  (array_agg(r.status order by r.urgency))[1] as shown_status,
  (array_agg(r.trigger = 'schedule' order by r.urgency))[1] as is_nightly
from (
  select date_trunc('day', now() at time zone 'UTC') - make_interval(days => back) as day
  from generate_series(0, 29) back
) d
left join (
  select run_id, trigger, status, requested_at, finished_at,
    row(trigger <> 'schedule', array_position('{failed,partial,running,queued,succeeded,cancelled}', status),
      now() - requested_at, run_id) as urgency
  from sync.runs
) r on r.requested_at >= d.day at time zone 'UTC' and r.requested_at < (d.day + interval '1 day') at time zone 'UTC'
group by d.day
order by d.day
