-- Notes an action, in the transaction that makes its change.
-- Params: $1 by, $2 action, $3 runId?, $4 target?, $5 reason?.
insert into sync.actions (by, action, run_id, target, reason) values ($1, $2, $3, $4, $5)
