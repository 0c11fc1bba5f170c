-- Makes new erasures wait for the end of the transaction. Erasures in progress continue.
-- Params: none.
lock table sync.erasures in row exclusive mode
