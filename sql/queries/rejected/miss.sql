-- Records that rejected records are gone: their scopes returned a complete response without them.
-- Params: $1 operation, $2 organizationIds, $3 documentIds[?], $4 annotationIds[?], $5 userGroupIds[?], $6 digests (of
-- the rejected records of these responses).
update sync.rejected_records r
set gone_at = now()
from unnest($2::text[], $3::text[], $4::text[], $5::text[]) as s(organization_id, document_id, annotation_id, user_group_id)
where r.gone_at is null and r.operation = $1 and r.organization_id = s.organization_id
  and r.document_id is not distinct from s.document_id and r.annotation_id is not distinct from s.annotation_id
  and r.organization_user_group_id is not distinct from s.user_group_id
  and not r.digest = any($6::bytea[])
