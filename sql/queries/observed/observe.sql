-- Looks through so many changes for the members that records have, and goes on from there the next time. What is passed over is
-- told by the SQLSTATE of the error that kept it from being looked through.
-- Params: $1 maxChanges.
-- Never null: has_more.
select has_more, passed_over from collab_store.observe_members($1)
