-- Up to when the tables are complete by the last night that succeeded. Null if that night fetched not everything. No row
-- without such a night.
-- Params: none.
select complete_up_to from reporting.nightly where status = 'succeeded' order by due_at desc limit 1
