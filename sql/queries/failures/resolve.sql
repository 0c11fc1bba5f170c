-- Marks open failures as resolved for scopes of a batch that returned a usable response, in all runs.
-- Params: $1 batchKey, $2 scopeNumbers, $3 runId (the run that received it).
-- Prepared.
update sync.failures set resolved_at = now(), resolved_by = $3
where batch_key = $1 and scope_no = any($2::smallint[]) and resolved_at is null
