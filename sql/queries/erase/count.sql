-- Adds to the counts of an erasure, in the transaction that did it.
-- Params: $1 erasureId, $2 users, $3 comments, $4 commentVersions, $5 memberships, $6 mentionsInRecords, $7 rejectedRecords, $8
-- messages, $9 held, $10 scopes, $11 userVersions.
update sync.erasures
set users = users + $2, comments = comments + $3, comment_versions = comment_versions + $4, memberships = memberships + $5,
  mentions_in_records = mentions_in_records + $6, rejected_records = rejected_records + $7, messages = messages + $8,
  held = held + $9, scopes = scopes + $10,
  user_versions = user_versions + $11
where erasure_id = $1
