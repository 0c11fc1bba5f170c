-- What keeps the catalog from being as its sources say: an import that is held, and a source whose last import failed.
-- Params: none.
-- Typed as: state sync.catalog_imports.state.
select import_id, at, state, source, scopes, lacking, organizations, first_organization_id, problem
from sync.catalog_imports i
where state = 'held' or (state = 'failed' and not exists (
  select from sync.catalog_imports later
  where later.source = i.source and (later.last_seen_at, later.import_id) > (i.last_seen_at, i.import_id)
))
order by import_id
