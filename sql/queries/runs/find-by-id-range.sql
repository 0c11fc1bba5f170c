-- Runs whose id lies in a range: those that begin with the digits a person gave.
-- Params: $1 lowest, $2 highest. Two rows are enough to know that the digits do not name one run.
select run_id from sync.runs where run_id between $1 and $2 limit 2
