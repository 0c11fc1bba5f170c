-- The erasure of a person that was interrupted, or is still under way; with what it looks for.
-- Params: $1 pseudonym, $2 organizationId?.
select erasure_id, erased_at, identity
from sync.erasures
where pseudonym = $1 and organization_id is not distinct from $2 and finished_at is null
order by erasure_id desc
limit 1
