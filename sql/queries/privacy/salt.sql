-- The secret for the hashes of this database.
-- Params: none.
select salt from sync.privacy
