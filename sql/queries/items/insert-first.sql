-- The first item of a run that pages organizations.
-- Params: $1 runId.
insert into sync.run_items (run_id, kind) values ($1, 'page-organizations')
returning item_id, kind, round
