-- How many held removals and rejected records wait for a decision of an operator, up to $1 of each: every page shows it,
-- and there may be 100,000.
-- Params: $1 most.
-- Never null: waiting.
select (
  (select count(*) from (select from sync.open_holds limit $1) h)
  + (select count(*) from (select from sync.unstored_records where is_open limit $1) r)
)::int as waiting
