-- Begins a read-only transaction with one consistent snapshot, with times in UTC and ISO 8601. There is no time limit,
-- because the reader of a pipe may be slow.
-- Params: none.
begin transaction isolation level repeatable read, read only;
set local statement_timeout = 0;
set local idle_in_transaction_session_timeout = 0;
set local timezone = 'UTC';
set local datestyle = 'ISO, YMD';
set local intervalstyle = 'iso_8601';
set local extra_float_digits = 1
