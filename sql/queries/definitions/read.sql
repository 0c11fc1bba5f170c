-- What words mean in reports here.
-- Params: none.
-- Never null: freshness_promise_s.
select extract(epoch from freshness_promise)::float8 as freshness_promise_s, written_member, report_time_zone
from collab_store.definitions
