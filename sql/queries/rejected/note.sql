-- Stores records that could not be stored as received, one row each, identified by scope and content. Repeated records
-- of continuous refresh are updated once an hour.
-- Params: $1 runId, $2 operation, $3 organizationIds, $4 documentIds[?], $5 annotationIds[?], $6 userGroupIds[?], $7
-- reasons, $8 records, $9 isWhole (nothing of the record is stored), $10 digests, $11 isRefresh.
-- Never null: lost.
with given as (
  select distinct on (digest, md5(reason)) n.*
  from unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::boolean[], $10::bytea[])
    as n(organization_id, document_id, annotation_id, organization_user_group_id, reason, record, is_whole, digest)
  order by digest, md5(reason), is_whole desc
), noted as (
  insert into sync.rejected_records as r (run_id, operation, organization_id, document_id, annotation_id,
    organization_user_group_id, reason, record, is_whole, digest)
  select $1, $2, given.* from given
  on conflict (digest, md5(reason)) do update
  set run_id = excluded.run_id, at = excluded.at, times = r.times + 1, is_whole = excluded.is_whole, gone_at = null
  where r.gone_at is not null or r.at < now() - interval '1 hour' or (r.run_id <> excluded.run_id and not $11)
)
select count(*) filter (
  where is_whole and not exists (select from sync.set_aside_records s where s.digest = given.digest)
)::int as lost
from given
