-- Locks and returns the held import; no row if none is held.
-- Params: none.
select import_id
from sync.catalog_imports
where state = 'held'
for update
