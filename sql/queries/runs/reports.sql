-- Runs with their counts, newest first: the final counts, or the current sums of the items of an open run.
-- Params: $1 runIds?, $2 limit, $3 deadAfterS (seconds without a heartbeat after which a worker is considered dead).
-- Never null: read_at, counts of a report, fields_rejected, workers_gone.
select r.run_id, r.trigger, r.status, r.scope, r.requested_at, r.started_at, r.finished_at, r.stopping, r.problem, r.retry_of,
  r.failing,
  (select a.by from sync.actions a where a.run_id = r.run_id and a.action = 'run_requested') as requested_by,
  r.scopes_expected, now() as read_at,
  r.calls, r.retries, r.waited_throttled_ms,
  /* counts of a report: coalesce(t.{column}, r.{column}) as {column} */
    coalesce(t.scopes_planned, r.scopes_planned) as scopes_planned,
    coalesce(t.scopes_succeeded, r.scopes_succeeded) as scopes_succeeded,
    coalesce(t.scopes_failed, r.scopes_failed) as scopes_failed, coalesce(t.scopes_held, r.scopes_held) as scopes_held,
    coalesce(t.scopes_skipped, r.scopes_skipped) as scopes_skipped,
    coalesce(t.records_received, r.records_received) as records_received,
    coalesce(t.records_inserted, r.records_inserted) as records_inserted,
    coalesce(t.records_updated, r.records_updated) as records_updated,
    coalesce(t.records_unchanged, r.records_unchanged) as records_unchanged,
    coalesce(t.records_rejected, r.records_rejected) as records_rejected,
    coalesce(t.records_null, r.records_null) as records_null,
    coalesce(t.organizations_done, r.organizations_done) as organizations_done,
    coalesce(t.documents_done, r.documents_done) as documents_done, coalesce(t.groups_done, r.groups_done) as groups_done,
    coalesce(t.annotations_done, r.annotations_done) as annotations_done,
    coalesce(t.users_written, r.users_written) as users_written,
    coalesce(t.users_removed, r.users_removed) as users_removed,
    coalesce(t.members_removed, r.members_removed) as members_removed,
    coalesce(t.comments_written, r.comments_written) as comments_written,
    coalesce(t.comments_deleted, r.comments_deleted) as comments_deleted, coalesce(t.rejected, r.rejected) as rejected,
    coalesce(t.service_ms, r.service_ms) as service_ms, coalesce(t.waited_ms, r.waited_ms) as waited_ms,
    coalesce(t.database_ms, r.database_ms) as database_ms, coalesce(t.cpu_ms, r.cpu_ms) as cpu_ms /* end */,
  coalesce(t.rejected - t.records_rejected, r.rejected - r.records_rejected) as fields_rejected,
  r.finished_at is null and not exists (
    select from sync.workers where heartbeat_at >= now() - make_interval(secs => $3)
  ) as workers_gone
from (
  select * from sync.runs
  where $1::uuid[] is null or run_id = any($1)
  order by requested_at desc, run_id desc
  limit $2
) r
cross join lateral (
  select /* counts of a report: sum(i.{column})::bigint as {column} */ sum(i.scopes_planned)::bigint as scopes_planned,
    sum(i.scopes_succeeded)::bigint as scopes_succeeded, sum(i.scopes_failed)::bigint as scopes_failed,
    sum(i.scopes_held)::bigint as scopes_held, sum(i.scopes_skipped)::bigint as scopes_skipped,
    sum(i.records_received)::bigint as records_received, sum(i.records_inserted)::bigint as records_inserted,
    sum(i.records_updated)::bigint as records_updated, sum(i.records_unchanged)::bigint as records_unchanged,
    sum(i.records_rejected)::bigint as records_rejected, sum(i.records_null)::bigint as records_null,
    sum(i.organizations_done)::bigint as organizations_done, sum(i.documents_done)::bigint as documents_done,
    sum(i.groups_done)::bigint as groups_done, sum(i.annotations_done)::bigint as annotations_done,
    sum(i.users_written)::bigint as users_written, sum(i.users_removed)::bigint as users_removed,
    sum(i.members_removed)::bigint as members_removed, sum(i.comments_written)::bigint as comments_written,
    sum(i.comments_deleted)::bigint as comments_deleted, sum(i.rejected)::bigint as rejected,
    sum(i.service_ms)::bigint as service_ms, sum(i.waited_ms)::bigint as waited_ms,
    sum(i.database_ms)::bigint as database_ms, sum(i.cpu_ms)::bigint as cpu_ms /* end */
  from sync.run_items i
  where i.run_id = r.run_id and r.finished_at is null
) t
order by r.requested_at desc, r.run_id desc
