-- The runs that retried failed scopes of a run, newest first.
-- Params: $1 runId, $2 limit.
select run_id from sync.runs where retry_of = $1 order by requested_at desc, run_id desc limit $2
