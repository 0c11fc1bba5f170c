-- The last finished run of each trigger.
-- Params: none.
-- Never null: requested_s, finished_s.
select r.*
from unnest(array['schedule', 'cli', 'http', 'api', 'hint', 'refresh']) t (trigger)
cross join lateral (
  select trigger, status, calls, retries, scopes_succeeded, scopes_failed, scopes_held, scopes_skipped, rejected,
    extract(epoch from requested_at)::float8 as requested_s,
    extract(epoch from finished_at)::float8 as finished_s,
    extract(epoch from finished_at - started_at)::float8 as duration_s
  from sync.runs
  where trigger = t.trigger and finished_at is not null
  order by requested_at desc, run_id desc
  limit 1
) r
