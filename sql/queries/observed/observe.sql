-- Looks through so many changes for the members that records have, and goes on from there the next time.
-- Params: $1 maxChanges.
-- Never null: has_more.
select collab_store.observe_members($1) as has_more
