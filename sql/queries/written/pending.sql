-- Whether stored comments are still to be looked at for when they were written: the members by which some may have their time,
-- else null; the one that says it now, and the time zone of the days.
-- Params: none.
-- Never null: written_members_before[].
select written_member, written_members_before, report_time_zone from collab_store.definitions
