-- Records that could not be stored as received.
-- Params: $1 runId, $2 operation, $3 organizationIds, $4 documentIds[?], $5 annotationIds[?], $6 userGroupIds[?], $7
-- reasons, $8 records, $9 isWhole (nothing of the record is stored), $10 digests[?].
insert into sync.rejected_records (run_id, operation, organization_id, document_id, annotation_id,
  organization_user_group_id, reason, record, is_whole, digest)
select $1, $2, n.*
from unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::boolean[], $10::bytea[]) as n
