-- The applied migrations, in order.
-- Params: none.
select name, checksum, works_with, version from collab_sync.migrations order by name
