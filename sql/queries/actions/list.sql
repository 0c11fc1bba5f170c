-- A page of actions, of one run or all, the newest first.
-- Params: $1 runId?, $2 before? (lowest id of the page before), $3 limit.
select action_id, at, by, action, run_id, target, reason
from sync.actions
where ($1::uuid is null or run_id = $1) and ($2::bigint is null or action_id < $2)
order by action_id desc
limit $3
