-- Totals of sync.runs by trigger and status; one row per existing pair.
-- Params: none.
-- Never null: runs, calls, retries, scopes_succeeded, scopes_failed, scopes_held, scopes_skipped, records_inserted,
-- records_updated, records_unchanged, records_rejected, records_null, users_written, comments_written,
-- comments_deleted, rejected.
select trigger, status, count(*)::int as runs,
  sum(calls)::bigint as calls, sum(retries)::bigint as retries,
  sum(scopes_succeeded)::bigint as scopes_succeeded, sum(scopes_failed)::bigint as scopes_failed,
  sum(scopes_held)::bigint as scopes_held, sum(scopes_skipped)::bigint as scopes_skipped,
  sum(records_inserted)::bigint as records_inserted, sum(records_updated)::bigint as records_updated,
  sum(records_unchanged)::bigint as records_unchanged, sum(records_rejected)::bigint as records_rejected,
  sum(records_null)::bigint as records_null,
  sum(users_written)::bigint as users_written, sum(comments_written)::bigint as comments_written,
  sum(comments_deleted)::bigint as comments_deleted, sum(rejected)::bigint as rejected
from sync.runs
group by trigger, status
