-- A page of scopes without a usable response, newest first. Checks row by row whether a scope still fails: for `exists`
-- PostgreSQL would read every failing scope of the catalog.
-- Params: $1 runId?, $2 organizationId?, $3 before? (lowest id of the previous page), $4 limit.
-- Never null: state.
-- Typed as: operation collab_store.batches.operation.
select f.failure_id, f.run_id, f.at, f.operation, f.organization_id, f.document_id, f.annotation_id,
  f.organization_user_group_id, f.http_status, f.error_status, f.error_message, f.attempts, f.resolved_at, f.resolved_by,
  case when f.resolved_at is not null then 'resolved'
    when (
      select true from sync.failing_scopes x where x.batch_key = f.batch_key and x.scope_no = f.scope_no limit 1
    ) then 'failing'
    else 'left_catalog' end as state
from sync.failures f
where ($1::uuid is null or f.run_id = $1) and ($2::text is null or f.organization_id = $2)
  and ($3::bigint is null or f.failure_id < $3)
order by f.failure_id desc
limit $4
