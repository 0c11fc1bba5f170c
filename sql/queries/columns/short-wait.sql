-- Whoever reads a view meanwhile waits no longer than this.
-- Params: none.
set local lock_timeout = '1s'
