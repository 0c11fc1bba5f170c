-- The newest nightly run.
-- Params: none.
select run_id from sync.runs where trigger = 'schedule' order by requested_at desc, run_id desc limit 1
