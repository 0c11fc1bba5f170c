-- Runs asked for on each of the last 30 days (UTC): how many, how many of each status, and the one to look at first.
-- Params: none.
-- Never null: day, runs, succeeded, partial, failed, cancelled, under_way.
select to_char(d.day, 'YYYY-MM-DD') as day, count(r.run_id)::int as runs,
  count(*) filter (where r.status = 'succeeded')::int as succeeded,
  count(*) filter (where r.status = 'partial')::int as partial,
  count(*) filter (where r.status = 'failed')::int as failed,
  count(*) filter (where r.status = 'cancelled')::int as cancelled,
  count(r.run_id) filter (where r.finished_at is null)::int as under_way,
  (array_agg(r.run_id order by array_position('{failed,partial,running,queued,cancelled,succeeded}', r.status),
    r.requested_at desc))[1] as worst_run_id
from (
  select date_trunc('day', now() at time zone 'UTC') - make_interval(days => back) as day
  from generate_series(0, 29) back
) d
left join sync.runs r on r.requested_at >= d.day at time zone 'UTC'
  and r.requested_at < (d.day + interval '1 day') at time zone 'UTC'
group by d.day
order by d.day
