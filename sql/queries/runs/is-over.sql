-- Whether a run is finished, for callers that wait for its end: runs/reports costs many times as much.
-- Params: $1 runId.
-- Never null: over.
-- Prepared.
select finished_at is not null as over from sync.runs where run_id = $1
