-- Number of held removals pending approval, of one run or in total.
-- Params: $1 runId?.
-- Never null: held.
select count(*)::int as held
from sync.held
where held_id in (select held_id from sync.open_holds) and ($1::uuid is null or run_id = $1)
