-- All erasures, with what is needed to recognize erased people.
-- Params: none.
-- Never null: email_hashes[], name_hashes[].
select erasure_id, organization_id, pseudonym, email_hashes, name_hashes from sync.erasures order by erasure_id
