-- Runs asked for in the last 30 days (UTC), by day: how many, how many of each status, and the one to look at first.
-- Params: none.
-- Never null: day, runs, succeeded, partial, failed, cancelled, under_way, worst_run_id.
select to_char(r.requested_at at time zone 'UTC', 'YYYY-MM-DD') as day, count(*)::int as runs,
  count(*) filter (where r.status = 'succeeded')::int as succeeded,
  count(*) filter (where r.status = 'partial')::int as partial,
  count(*) filter (where r.status = 'failed')::int as failed,
  count(*) filter (where r.status = 'cancelled')::int as cancelled,
  count(*) filter (where r.finished_at is null)::int as under_way,
  (array_agg(r.run_id order by array_position('{failed,partial,running,queued,cancelled,succeeded}', r.status),
    r.requested_at desc))[1] as worst_run_id
from sync.runs r
where r.requested_at >= (date_trunc('day', now() at time zone 'UTC') - interval '29 days') at time zone 'UTC'
group by 1
order by 1
