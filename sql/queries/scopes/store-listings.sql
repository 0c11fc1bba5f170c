-- Stores facts about listings whose response was stored: number of users and digests.
-- Params: $1 batchKey, $2 scopeNos, $3 users, $4 bodyDigests[?], $5 contentDigests[?].
with listing as (
  select *
  from unnest($2::smallint[], $3::int[], $4::bytea[], $5::bytea[]) as n (scope_no, record_count, body_digest, content_digest)
), organization as (
  update collab_store.organizations x
  set record_count = n.record_count, body_digest = n.body_digest, content_digest = n.content_digest
  from listing n, collab_store.batches b
  where b.batch_key = $1 and b.batch_no = 0 and x.organization_key = b.organization_key and n.scope_no = 0
), user_group as (
  update collab_store.user_groups x
  set record_count = n.record_count, body_digest = n.body_digest, content_digest = n.content_digest
  from listing n where x.batch_key = $1 and x.scope_no = n.scope_no
)
update collab_store.documents x
set record_count = n.record_count, body_digest = n.body_digest, content_digest = n.content_digest
from listing n where x.batch_key = $1 and x.scope_no = n.scope_no
