-- The import of the same source that is held or was refused for the same lacking scopes. A refusal applies until a
-- complete list is applied.
-- Params: $1 digest, $2 source.
update sync.catalog_imports
set last_seen_at = now()
where import_id = (
  select import_id from sync.catalog_imports i
  where state in ('held', 'refused') and lacking_digest = $1 and source = $2
    and not exists (
      select from sync.catalog_imports later where later.state = 'applied' and later.prunes and later.import_id > i.import_id)
  order by import_id desc
  limit 1
)
returning import_id, state
