-- Planning data of continuous refresh: the definitions, whether it is paused, the time, the oldest transaction of this
-- database that may still write, and the calls sent in the last whole hour; null if none.
-- Params: none.
-- Never null: at, snapshot, promise_s, change_target_s.
-- Prepared.
select d.refresh_budget, extract(epoch from d.freshness_promise)::float8 as promise_s,
  extract(epoch from d.change_target)::float8 as change_target_s, clock_timestamp() as at,
  collab_store.feed_horizon(pg_current_snapshot())::text as snapshot, s.paused_since, s.paused_until, s.reason,
  (select sum(h.calls)::float8 from sync.refresh_hours h where h.hour = date_trunc('hour', now()) - interval '1 hour') as calls_last_hour
from collab_store.definitions d
cross join sync.refresh_state s
