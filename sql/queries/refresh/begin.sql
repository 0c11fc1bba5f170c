-- What refresh plans by, at one moment: the definitions, whether it is paused, the time, and the oldest transaction of this
-- database that may still write.
-- Params: none.
-- Never null: at, snapshot, promise_s.
select d.refresh_budget, extract(epoch from d.freshness_promise)::float8 as promise_s, clock_timestamp() as at,
  collab_store.feed_horizon(pg_current_snapshot())::text as snapshot, s.paused_since, s.paused_until
from collab_store.definitions d
cross join sync.refresh_state s
