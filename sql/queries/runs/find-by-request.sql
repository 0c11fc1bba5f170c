-- The run that a request made.
-- Params: $1 requestKey.
select run_id from sync.runs where request_key = $1
