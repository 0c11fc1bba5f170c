-- What keeps the catalog from being as its sources say: an import that is held; one that was refused and came again since;
-- and a source that could not be read, until it can, or another list is imported.
-- Params: none.
-- Typed as: state sync.catalog_imports.state.
select import_id, at, state, source, scopes, lacking, organizations, first_organization_id, problem
from sync.catalog_imports i
where state = 'held'
  or (
    (state = 'failed' or (state = 'refused' and last_seen_at > decided_at))
    and not exists (
      select from sync.catalog_imports later
      where (later.source = i.source or (later.state = 'applied' and later.prunes is not null))
        and (later.last_seen_at, later.import_id) > (i.last_seen_at, i.import_id)
    )
  )
order by import_id
