-- How long changed records may be looked through at the end of a run: a tenth of what it took, and at least 5 seconds. No row
-- where the run is settled or to end early: nobody waits for it any more.
-- Params: $1 runId.
-- Never null: seconds.
select greatest(5, extract(epoch from now() - coalesce(started_at, now())) / 10)::float8 as seconds
from sync.runs
where run_id = $1 and finished_at is null and stopping is null
