-- Totals of sync.runs by trigger and status; one row per existing pair.
-- Params: none.
-- Never null: runs, calls, retries, counts of a report.
select trigger, status, count(*)::int as runs, sum(calls)::bigint as calls, sum(retries)::bigint as retries,
  /* counts of a report: sum({column})::bigint as {column} */ sum(scopes_planned)::bigint as scopes_planned,
    sum(scopes_succeeded)::bigint as scopes_succeeded, sum(scopes_failed)::bigint as scopes_failed,
    sum(scopes_held)::bigint as scopes_held, sum(scopes_skipped)::bigint as scopes_skipped,
    sum(records_received)::bigint as records_received, sum(records_inserted)::bigint as records_inserted,
    sum(records_updated)::bigint as records_updated, sum(records_unchanged)::bigint as records_unchanged,
    sum(records_rejected)::bigint as records_rejected, sum(records_null)::bigint as records_null,
    sum(organizations_done)::bigint as organizations_done, sum(documents_done)::bigint as documents_done,
    sum(groups_done)::bigint as groups_done, sum(annotations_done)::bigint as annotations_done,
    sum(users_written)::bigint as users_written, sum(users_removed)::bigint as users_removed,
    sum(members_removed)::bigint as members_removed, sum(comments_written)::bigint as comments_written,
    sum(comments_deleted)::bigint as comments_deleted, sum(rejected)::bigint as rejected,
    sum(service_ms)::bigint as service_ms, sum(waited_ms)::bigint as waited_ms, sum(database_ms)::bigint as database_ms,
    sum(cpu_ms)::bigint as cpu_ms /* end */
from sync.runs
group by trigger, status
