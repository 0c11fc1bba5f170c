-- The import that is held, or was refused, for lacking just the same; one that was refused is not asked again.
-- Params: $1 digest.
update sync.catalog_imports
set last_seen_at = now()
where import_id = (
  select import_id from sync.catalog_imports
  where state in ('held', 'refused') and lacking_digest = $1
  order by import_id desc
  limit 1
)
returning import_id, state
