-- The last imports of the catalog, newest first.
-- Params: $1 limit.
select import_id, at, last_seen_at, source, requested_by, state, lines, added, removed, scopes, lacking, organizations,
  first_organization_id, problem, decided_at, decided_by, reason
from sync.catalog_imports
order by last_seen_at desc, import_id desc
limit $1
