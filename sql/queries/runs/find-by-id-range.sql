-- Runs whose ID is in a range, which begin with the given digits.
-- Params: $1 lowest, $2 highest. More than one row: the digits do not name one run.
select run_id from sync.runs where run_id between $1 and $2 order by run_id limit 10
