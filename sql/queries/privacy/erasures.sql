-- Every erasure, as far as telling erased people needs it.
-- Params: none.
-- Never null: email_hashes[], name_hashes[].
select erasure_id, organization_id, pseudonym, email_hashes, name_hashes from sync.erasures order by erasure_id
