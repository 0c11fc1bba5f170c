-- How the thing last came into the catalog or left it, and by which import; nothing where that is not kept any more.
-- Params: $1 object, $2 key.
-- Never null: at, change.
select at, change, import_id, source, requested_by
from collab_store.catalog_events($1, $2)
order by number desc
limit 1
