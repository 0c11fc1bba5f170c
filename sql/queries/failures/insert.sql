-- Records scopes without a usable response.
-- Params: $1 runId, $2 batchKey?, $3 operation, $4 scopeNumbers, $5 organizationIds, $6 documentIds[?], $7 annotationIds[?],
-- $8 userGroupIds[?], $9 httpStatuses[?], $10 errorStatuses[?], $11 messages, $12 attempts.
insert into sync.failures (run_id, batch_key, operation, scope_no, organization_id, document_id, annotation_id,
  organization_user_group_id, http_status, error_status, error_message, attempts)
select $1, $2, $3, n.*
from unnest($4::smallint[], $5::text[], $6::text[], $7::text[], $8::text[], $9::int[], $10::text[], $11::text[],
  $12::int[]) as n
