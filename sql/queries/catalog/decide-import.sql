-- Records the decision on a held import and deletes its lacking scopes.
-- Params: $1 importId, $2 state, $3 decidedBy, $4 reason?, $5 removed.
with decided as (
  update sync.catalog_imports
  set state = $2, decided_at = now(), decided_by = $3, reason = $4, removed = $5
  where import_id = $1
  returning import_id
)
delete from sync.catalog_lacking l using decided d where l.import_id = d.import_id
