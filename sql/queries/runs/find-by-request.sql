-- The run that a request started.
-- Params: $1 requestKey.
select run_id from sync.runs where request_key = $1
