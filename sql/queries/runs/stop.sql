-- Ends a run early; the first reason stays. If a full run fails in this way, its scopes may be out of date from now on
-- (collab_store.promise). A retry, or a run of failing scopes, has the same scope but is not a full run.
-- Params: $1 runId, $2 stopping ('failed' or 'cancelled'), $3 problem (one sentence), $4 stoppedFor?
-- ('credentials' or 'unreachable').
with stopped as (
  update sync.runs set stopping = $2, problem = coalesce(problem, $3), stopped_for = $4
  where run_id = $1 and finished_at is null and stopping is null and trigger <> 'refresh'
  returning run_id, scope, retry_of, failing, coalesce(started_at, requested_at) as began_at
), noted as (
  update collab_store.definitions d
  set looks_failed_at = greatest(d.looks_failed_at, s.began_at)
  from stopped s
  where $2 = 'failed' and s.scope = '{}' and s.retry_of is null and not s.failing
)
select run_id from stopped
