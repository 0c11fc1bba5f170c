-- A page of scopes that gave no usable answer, the newest first.
-- Params: $1 runId?, $2 organizationId?, $3 before? (lowest id of the page before), $4 limit.
-- Typed as: operation collab_store.batches.operation.
select failure_id, run_id, at, operation, organization_id, document_id, annotation_id, organization_user_group_id,
  http_status, error_status, error_message, attempts
from sync.failures
where ($1::uuid is null or run_id = $1) and ($2::text is null or organization_id = $2)
  and ($3::bigint is null or failure_id < $3)
order by failure_id desc
limit $4
