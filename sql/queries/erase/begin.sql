-- Makes the feed of changes record all changes of this transaction as erasures.
-- Params: none.
-- Never null: noted.
select set_config('collab_sync.erases', 'on', true) as noted
