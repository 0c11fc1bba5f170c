-- Who requested a run, what it fetches, who cancelled it, and its counts: read when its message is sent, because it may
-- name persons.
-- Params: $1 runId.
-- Never null: duration_ms.
select r.scope, r.retry_of, r.failing,
  (select a.by from sync.actions a where a.run_id = r.run_id and a.action = 'run_requested') as requested_by,
  (select a.by from sync.actions a where a.run_id = r.run_id and a.action = 'run_cancelled') as cancelled_by,
  (select c.complete_up_to from sync.complete_runs c where c.run_id = r.run_id) as complete_up_to,
  coalesce(extract(epoch from r.finished_at - r.started_at) * 1000, 0)::float8 as duration_ms,
  r.calls, r.retries, r.waited_throttled_ms,
  /* counts of a report: r.{column} */ r.scopes_planned, r.scopes_succeeded, r.scopes_failed, r.scopes_held,
    r.scopes_skipped, r.records_received, r.records_inserted, r.records_updated, r.records_unchanged, r.records_rejected,
    r.records_null, r.organizations_done, r.documents_done, r.groups_done, r.annotations_done, r.users_written,
    r.users_removed, r.members_removed, r.comments_written, r.comments_deleted, r.rejected, r.service_ms, r.waited_ms,
    r.database_ms, r.cpu_ms /* end */
from sync.runs r
where r.run_id = $1
