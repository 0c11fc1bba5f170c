-- Has the feed of changes call everything an erasure that this transaction changes.
-- Params: none.
-- Never null: noted.
select set_config('collab_sync.erases', 'on', true) as noted
