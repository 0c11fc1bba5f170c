-- What a run held and still waits, the oldest first.
-- Params: $1 runId, $2 organizationId?.
select held_id, batch_key
from sync.held
where run_id = $1 and resolved_at is null and ($2::text is null or organization_id = $2)
order by held_id
