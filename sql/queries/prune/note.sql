-- Notes a prune; one of a nightly run once.
-- Params: $1 by, $2 runId?, $3 target.
insert into sync.actions (by, action, run_id, target) values ($1, 'history_pruned', $2, $3)
on conflict (run_id) where action = 'history_pruned' do nothing
