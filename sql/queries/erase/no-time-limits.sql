-- A large erasure may take longer than any other statement or transaction of ours.
-- Params: none.
select set_config('statement_timeout', '0', true), set_config('idle_in_transaction_session_timeout', '0', true)
