-- The secret that hashes of this database are made with.
-- Params: none.
select salt from sync.privacy
