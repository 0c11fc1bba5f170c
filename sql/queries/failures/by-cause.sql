-- Failures of a run grouped by cause, the most frequent first, with the first three of each.
-- Params: $1 run.
select operation, http_status, error_status, min(error_message) as error_message, count(*)::int as scopes,
  count(distinct organization_id)::int as organizations, max(attempts) as attempts,
  (array_agg(jsonb_strip_nulls(jsonb_build_object(
    'organizationId', organization_id, 'documentId', document_id, 'annotationId', annotation_id,
    'organizationUserGroupId', organization_user_group_id)) order by failure_id))[1:3] as examples
from sync.failures
where run_id = $1
group by operation, http_status, error_status
order by count(*) desc, operation, http_status
limit 20
