-- Whether a run is settled, for those who wait for its end: what runs/reports says of it costs many times as much.
-- Params: $1 runId.
-- Never null: over.
-- Prepared.
select finished_at is not null as over from sync.runs where run_id = $1
