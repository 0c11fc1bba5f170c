-- Makes a run, once for each request key; returns nothing where that request made one already, or a scheduled run is under way.
-- Params: $1 trigger, $2 scope, $3 requestKey?, $4 retryOf?.
insert into sync.runs (trigger, scope, request_key, retry_of)
values ($1, $2, $3, $4)
on conflict do nothing
returning run_id
