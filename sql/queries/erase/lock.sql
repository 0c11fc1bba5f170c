-- Allows one erasure at a time, so that their numbers are in the order of their commits.
-- Params: none.
lock table sync.erasures in share row exclusive mode
