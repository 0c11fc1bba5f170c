-- What words mean in reports here.
-- Params: none.
-- Never null: freshness_promise_s, change_target_s.
select extract(epoch from freshness_promise)::float8 as freshness_promise_s, written_member, report_time_zone, refresh_budget,
  extract(epoch from change_target)::float8 as change_target_s
from collab_store.definitions
