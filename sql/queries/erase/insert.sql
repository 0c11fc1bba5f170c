-- The proof of an erasure.
-- Params: $1 organization id or null, $2 pseudonym, $3 e-mail hashes, $4 reason, then counts: $5 users, $6 comments,
-- $7 comment versions, $8 memberships, $9 mentions in records, $10 rejected records, $11 messages, $12 held, $13 scopes,
-- $14 mentions left.
insert into sync.erasures (organization_id, pseudonym, email_hashes, reason, users, comments, comment_versions, memberships,
  mentions_in_records, rejected_records, messages, held, scopes, mentions_left)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
returning erasure_id, erased_at
