-- The import that is held, locked; nothing where none is.
-- Params: none.
select import_id
from sync.catalog_imports
where state = 'held'
for update
