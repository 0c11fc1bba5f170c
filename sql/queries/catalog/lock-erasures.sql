-- Has erasures that begin wait for the end of the transaction. Those that have begun go on.
-- Params: none.
lock table sync.erasures in row exclusive mode
