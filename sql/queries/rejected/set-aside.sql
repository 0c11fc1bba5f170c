-- Sets rejected records aside by their content; records that were set aside before are not changed.
-- Params: $1 rejectedIds?, $2 runId?, $3 by, $4 reason.
-- Never null: found, changed.
with meant as (
  select * from sync.unstored_records
  where (rejected_record_id = any($1::bigint[]) or run_id = $2::uuid) and digest is not null
), done as (
  insert into sync.set_aside_records (digest, operation, organization_id, document_id, annotation_id,
    organization_user_group_id, set_aside_by, reason)
  select distinct on (digest) digest, operation, organization_id, document_id, annotation_id, organization_user_group_id, $3, $4
  from meant
  on conflict (digest) do nothing
  returning digest
)
select (select count(*) from meant)::int as found, (select count(*) from done)::int as changed
