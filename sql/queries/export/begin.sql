-- One consistent picture for as long as the export takes, in which nothing is written; times in UTC and ISO 8601. Nobody
-- knows how long the reader of a pipe takes, so no time limit holds.
-- Params: none.
begin transaction isolation level repeatable read, read only;
set local statement_timeout = 0;
set local idle_in_transaction_session_timeout = 0;
set local timezone = 'UTC';
set local datestyle = 'ISO, YMD';
set local intervalstyle = 'iso_8601';
set local extra_float_digits = 1
