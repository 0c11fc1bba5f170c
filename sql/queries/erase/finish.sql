-- Finishes an erasure and deletes the values that it searched for. Returns the proof.
-- Params: $1 erasureId, $2 mentionsLeft.
-- Never null: finished_at.
update sync.erasures
set identity = null, mentions_left = $2, finished_at = now()
where erasure_id = $1
returning erased_at, finished_at, users, comments, comment_versions, memberships, mentions_in_records, rejected_records,
  messages, held, scopes, user_versions, mentions_left
