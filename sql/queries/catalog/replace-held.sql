-- Marks the held import as replaced by a later import.
-- Params: none.
with replaced as (
  update sync.catalog_imports set state = 'replaced' where state = 'held' returning import_id
)
delete from sync.catalog_lacking l using replaced r where l.import_id = r.import_id
