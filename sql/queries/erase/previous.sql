-- When a person was last erased in an organization, or in all.
-- Params: $1 pseudonym, $2 organizationId?.
select max(erased_at) as erased_at
from sync.erasures
where pseudonym = $1 and (organization_id is null or organization_id = $2) and finished_at is not null
