-- Runs whose id lies in a range: those that begin with the digits a person gave.
-- Params: $1 lowest, $2 highest. More than one row: the digits do not name one run.
select run_id from sync.runs where run_id between $1 and $2 order by run_id limit 10
