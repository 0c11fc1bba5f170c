-- When the object last entered or left the catalog, and the import; no row if that is no longer stored.
-- Params: $1 object, $2 key.
-- Never null: at, change.
select at, change, import_id, source, requested_by
from collab_store.catalog_events($1, $2)
order by number desc
limit 1
