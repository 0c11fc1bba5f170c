-- A page of rejected records, newest first.
-- Params: $1 runId?, $2 before? (lowest id of the previous page), $3 limit, $4 mostCharacters (of each record), $5
-- isSetAside? (true for records that were set aside, false for open ones, null for both).
-- Never null: rejected_record_id, run_id, at, operation, reason, record, is_cut, is_whole, is_field, first_seen_at,
-- last_seen_at, times.
-- Typed as: operation collab_store.batches.operation.
select rejected_record_id, run_id, at, operation, organization_id, document_id, annotation_id, organization_user_group_id,
  reason, left(record, $4) as record, length(record) > $4 as is_cut, is_whole, is_field, first_seen_at,
  last_seen_at, times, gone_at, set_aside_at, set_aside_by, set_aside_reason
from sync.unstored_records
where ($1::uuid is null or run_id = $1) and ($2::bigint is null or rejected_record_id < $2)
  and ($5::boolean is null or case when $5 then set_aside_at is not null else is_open end)
order by rejected_record_id desc
limit $3
