-- Open runs that are to end early.
-- Params: none.
-- Prepared.
select run_id from sync.runs where status in ('queued', 'running') and stopping is not null
