-- Registers an erasure. What is claimed from its commit on is redacted.
-- Params: $1 organizationId?, $2 pseudonym, $3 emailHashes, $4 nameHashes, $5 reason, $6 lookedFor (json).
insert into sync.erasures (organization_id, pseudonym, email_hashes, name_hashes, reason, identity)
values ($1, $2, $3, $4, $5, $6)
returning erasure_id, erased_at
