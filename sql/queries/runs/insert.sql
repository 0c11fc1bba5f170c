-- Makes a run, once for each request key; returns nothing where that request made one already, or a scheduled run is under way.
-- Params: $1 trigger, $2 scope, $3 requestKey?.
insert into sync.runs (trigger, scope, request_key)
values ($1, $2, $3)
on conflict do nothing
returning run_id
