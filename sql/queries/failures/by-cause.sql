-- Failures of a run by cause, most frequent first, with the first three of each and how many were resolved since.
-- Aggregates by organization first, because counting 200,000 failures at once takes seconds.
-- Params: $1 runId.
-- Never null: operation, scopes, organizations, attempts, resolved, failing, left_catalog, resolved_by, resolved_by[], examples, examples[].
-- Typed as: operation collab_store.batches.operation.
with by_organization as (
  select f.operation, f.http_status, f.error_status, f.organization_id, min(f.error_message collate "C") as error_message,
    count(*) as scopes, max(f.attempts) as attempts, min(f.failure_id) as first_id,
    count(f.resolved_at) as resolved, count(x.batch_key) as failing
  from sync.failures f
  left join sync.failing_scopes x on f.resolved_at is null and x.batch_key = f.batch_key and x.scope_no = f.scope_no
  where f.run_id = $1
  group by f.operation, f.http_status, f.error_status, f.organization_id
), causes as (
  select operation, http_status, error_status, min(error_message) as error_message, sum(scopes)::int as scopes,
    count(organization_id)::int as organizations, max(attempts) as attempts, min(first_id) as first_id,
    sum(resolved)::int as resolved, sum(failing)::int as failing
  from by_organization
  group by operation, http_status, error_status
  order by sum(scopes) desc, operation, http_status
  limit 20
), resolvers as (
  select operation, http_status, error_status, resolved_by, max(resolved_at) as resolved_at
  from sync.failures
  where run_id = $1 and resolved_at is not null
  group by operation, http_status, error_status, resolved_by
)
select operation, http_status, error_status, error_message, scopes, organizations, attempts, resolved, failing,
  scopes - resolved - failing as left_catalog,
  array(
    select r.resolved_by
    from resolvers r
    where r.operation = c.operation and r.http_status is not distinct from c.http_status
      and r.error_status is not distinct from c.error_status
    order by r.resolved_at desc
    limit 5
  ) as resolved_by,
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
