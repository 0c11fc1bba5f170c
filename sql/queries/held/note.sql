-- Records that a listing lost so many users that none was removed. The same response in a later scheduled run counts as
-- a repeat; another response starts again. A response that an operator refused is not recorded while it stays the same
-- (repeats is null); any other response ends the refusal. A response without a digest equals no other.
-- Params: $1 runId, $2 isScheduled, $3 batchKey, $4 kind, $5 scopeKey, $6 organizationId, $7 documentId?, $8 userGroupId?,
-- $9 contentDigest, $10 usersBefore, $11 missingUserIds, $12 isLoss, $13 usersReturned, $14 operation.
with refused as (
  select held_id from sync.held
  where operation = $14 and kind = $4 and scope_key = $5 and is_standing and content_digest = $9 and $9 <> ''::bytea
), ended as (
  update sync.held set is_standing = false
  where operation = $14 and kind = $4 and scope_key = $5 and is_standing and not exists (select from refused)
), noted as (
  insert into sync.held as h (run_id, batch_key, kind, scope_key, organization_id, document_id, organization_user_group_id,
    content_digest, users_before, missing_user_ids, is_loss, users_returned, operation)
  select $1, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14 from (values ($2::boolean)) as v
  where not exists (select from refused)
  on conflict (operation, kind, scope_key) where resolved_at is null do update
  set run_id = excluded.run_id, users_before = excluded.users_before, missing_user_ids = excluded.missing_user_ids,
    content_digest = excluded.content_digest, is_loss = excluded.is_loss, users_returned = excluded.users_returned,
    at = case when h.content_digest = excluded.content_digest then h.at else now() end,
    repeats = case
      when h.content_digest <> excluded.content_digest or h.content_digest = '' then 0
      when $2 and h.run_id <> excluded.run_id then h.repeats + 1
      else h.repeats
    end
  returning repeats
)
select (select repeats from noted) as repeats
