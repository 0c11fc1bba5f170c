-- A page of rejected records that were not stored after all, the newest first: at most so many, and at most so many
-- characters of them (but one at least), since a record may be as long as an answer.
-- Params: $1 runId?, $2 before? (lowest id of the page before), $3 limit, $4 mostCharacters.
-- Never null: is_whole, is_narrowed.
-- Typed as: operation collab_store.batches.operation.
select rejected_record_id, run_id, at, operation, organization_id, document_id, annotation_id, organization_user_group_id,
  record, coalesce(is_whole, false) as is_whole, is_narrowed
from (
  select j.*, r.scope ? 'userIds' as is_narrowed,
    sum(length(j.record)) over (order by j.rejected_record_id desc) - length(j.record) as characters_before
  from (
    select * from sync.rejected_records
    where replayed_at is null and ($1::uuid is null or run_id = $1)
      and ($2::bigint is null or rejected_record_id < $2)
    order by rejected_record_id desc
    limit $3
  ) j
  join sync.runs r using (run_id)
) page
where characters_before < $4
order by rejected_record_id desc
