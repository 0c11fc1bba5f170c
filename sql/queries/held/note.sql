-- Notes that a listing lacked so many users that nobody was removed. The same answer in a later scheduled run counts as
-- a repeat; another answer starts anew.
-- Params: $1 runId, $2 isScheduled, $3 batchKey, $4 kind, $5 scopeKey, $6 organizationId, $7 documentId?, $8 userGroupId?,
-- $9 contentDigest, $10 usersBefore, $11 missingUserIds.
insert into sync.held as h (run_id, batch_key, kind, scope_key, organization_id, document_id, organization_user_group_id,
  content_digest, users_before, missing_user_ids)
select $1, $3, $4, $5, $6, $7, $8, $9, $10, $11 from (values ($2::boolean)) as v
on conflict (kind, scope_key) where resolved_at is null do update
set run_id = excluded.run_id, users_before = excluded.users_before, missing_user_ids = excluded.missing_user_ids,
  content_digest = excluded.content_digest,
  at = case when h.content_digest = excluded.content_digest then h.at else now() end,
  repeats = case
    when h.content_digest <> excluded.content_digest then 0
    when $2 and h.run_id <> excluded.run_id then h.repeats + 1
    else h.repeats
  end
returning repeats
