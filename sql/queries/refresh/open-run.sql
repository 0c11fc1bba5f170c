-- Creates or returns the run of continuous refresh for one day, by the time zone of the schedule, and a worker's item
-- of it. No row if another worker is creating the run at the same moment.
-- Params: $1 at, $2 workerId.
-- Never null: run_id, item_id, until.
with today as (
  select 'refresh ' || (($1::timestamptz at time zone schedule_time_zone)::date)::text as request_key,
    (($1::timestamptz at time zone schedule_time_zone)::date + 1) at time zone schedule_time_zone as until
  from collab_store.definitions
), made as (
  insert into sync.runs (trigger, status, requested_at, started_at, request_key)
  select 'refresh', 'running', $1, $1, request_key from today
  on conflict (request_key) do nothing
  returning run_id
), run as (
  select run_id from made
  union all
  select r.run_id from sync.runs r join today using (request_key) where r.finished_at is null
), item as (
  insert into sync.run_items (run_id, kind, worker_id, claimed_at)
  select run_id, 'refresh', $2, $1 from run
  returning run_id, item_id
)
select i.run_id, i.item_id, t.until from item i cross join today t
