-- Whether stored comments are still to be looked at for when they were written: the members by which some may have their time,
-- else null; and the one that says it now.
-- Params: none.
-- Never null: written_members_before[].
select written_member, written_members_before from collab_store.definitions
