-- Failures of a run grouped by cause, the most frequent first, with the first three of each: by organization first, since
-- counting those of 200,000 failures at once takes seconds.
-- Params: $1 runId.
-- Never null: scopes, organizations, attempts, examples, examples[].
-- Typed as: operation collab_store.batches.operation.
with by_organization as (
  select operation, http_status, error_status, organization_id, min(error_message collate "C") as error_message,
    count(*) as scopes, max(attempts) as attempts, min(failure_id) as first_id
  from sync.failures
  where run_id = $1
  group by operation, http_status, error_status, organization_id
),
causes as (
  select operation, http_status, error_status, min(error_message) as error_message, sum(scopes)::int as scopes,
    count(organization_id)::int as organizations, max(attempts) as attempts, min(first_id) as first_id
  from by_organization
  group by operation, http_status, error_status
  order by sum(scopes) desc, operation, http_status
  limit 20
)
select operation, http_status, error_status, error_message, scopes, organizations, attempts,
  array(
    select jsonb_strip_nulls(jsonb_build_object(
      'organizationId', f.organization_id, 'documentId', f.document_id, 'annotationId', f.annotation_id,
      'organizationUserGroupId', f.organization_user_group_id))
    from sync.failures f
    where f.run_id = $1 and f.failure_id >= c.first_id and f.operation = c.operation
      and f.http_status is not distinct from c.http_status and f.error_status is not distinct from c.error_status
    order by f.failure_id
    limit 3
  ) as examples
from causes c
order by scopes desc, operation, http_status
