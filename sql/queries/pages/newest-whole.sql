-- The newest nightly run, with $1 also of the runs of everything that users and programs started; and up to when the tables
-- are complete by the last run of any of them that succeeded (null if that run fetched not everything).
-- Params: $1 ofAnyTrigger.
with whole as not materialized (
  select run_id, status, requested_at, trigger
  from sync.runs
  where trigger = 'schedule' or (scope = '{}' and retry_of is null and not failing)
)
select (
    select run_id from whole where $1::boolean or trigger = 'schedule' order by requested_at desc, run_id desc limit 1
  ) as run_id, (
    select c.complete_up_to
    from whole w
    left join sync.complete_runs c using (run_id)
    where w.status = 'succeeded'
    order by w.requested_at desc, w.run_id desc
    limit 1
  ) as complete_up_to
