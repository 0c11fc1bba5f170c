-- One look through everything may take longer than any other statement of ours.
-- Params: none.
select set_config('statement_timeout', '0', true)
