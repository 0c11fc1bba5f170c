-- Makes the next statement join row by row, in this transaction only. A hash or a sort of all comments' annotations delays
-- the first row by a minute with ten million annotations, and PostgreSQL uses no parallel workers for a cursor.
-- Params: none.
set local enable_hashjoin = off;
set local enable_sort = off;
set local max_parallel_workers_per_gather = 0
