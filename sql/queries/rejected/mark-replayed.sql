-- Rejected records that are stored after all.
-- Params: $1 rejectedIds.
update sync.rejected_records set replayed_at = now() where rejected_record_id = any($1::bigint[]) and replayed_at is null
