-- Why scopes of a run failed, the most frequent cause first.
-- Params: $1 runId.
-- Never null: scopes, organizations.
-- Typed as: operation collab_store.batches.operation.
select operation, http_status, error_status, min(error_message) as error_message, count(*)::int as scopes,
  count(distinct organization_id)::int as organizations
from sync.failures
where run_id = $1
group by operation, http_status, error_status
order by count(*) desc, operation, http_status
limit 20
