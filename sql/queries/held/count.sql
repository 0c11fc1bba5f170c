-- How many listings are held and wait for a person, of one run or in all.
-- Params: $1 runId?.
-- Never null: held.
select count(*)::int as held
from sync.held
where resolved_at is null and ($1::uuid is null or run_id = $1)
