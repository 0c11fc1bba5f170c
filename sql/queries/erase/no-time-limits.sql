-- Removes time limits for this transaction: reading all data may take longer than any other statement.
-- Params: none.
select set_config('statement_timeout', '0', true)
