-- Asks a run to end early; the first reason stays.
-- Params: $1 runId, $2 stopping ('failed' or 'cancelled'), $3 problem (one sentence).
update sync.runs set stopping = $2, problem = coalesce(problem, $3)
where run_id = $1 and finished_at is null and stopping is null
returning run_id
