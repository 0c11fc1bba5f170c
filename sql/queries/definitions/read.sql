-- The definitions of reports. written_members_before are the fields from which some stored comments may still have
-- their writing time; null if none.
-- Params: none.
-- Never null: freshness_promise_s, change_target_s, written_members_before[], operations[].
select extract(epoch from freshness_promise)::float8 as freshness_promise_s, written_member, written_members_before,
  report_time_zone, privacy_email, privacy_raw, privacy_exclude, refresh_budget,
  extract(epoch from change_target)::float8 as change_target_s, operations
from collab_store.definitions
