-- Creates a run, once per request key; no row if that request created one already, or if a scheduled run is in
-- progress.
-- Params: $1 trigger, $2 scope, $3 requestKey?, $4 retryOf?, $5 failing.
insert into sync.runs (trigger, scope, request_key, retry_of, failing)
values ($1, $2, $3, $4, $5)
on conflict do nothing
returning run_id
