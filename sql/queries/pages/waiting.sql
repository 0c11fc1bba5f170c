-- What waits for a decision of an operator: held removals and rejected records, as in sync.attention.
-- Params: none.
-- Never null: waiting.
select ((select count(*) from sync.open_holds) + (select count(*) from sync.unstored_records where is_open))::int as waiting
