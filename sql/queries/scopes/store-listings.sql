-- Stores facts about listings whose response was stored: number of users and digests.
-- Params: $1 kinds, $2 keys, $3 users, $4 bodyDigests[?], $5 contentDigests[?].
with listing as (
  select *
  from unnest($1::text[], $2::int[], $3::int[], $4::bytea[], $5::bytea[])
    as n (kind, key, record_count, body_digest, content_digest)
), organization as (
  update collab_store.organizations x
  set record_count = n.record_count, body_digest = n.body_digest, content_digest = n.content_digest
  from listing n where n.kind = 'organization' and x.organization_key = n.key
), user_group as (
  update collab_store.user_groups x
  set record_count = n.record_count, body_digest = n.body_digest, content_digest = n.content_digest
  from listing n where n.kind = 'group' and x.user_group_key = n.key
)
update collab_store.documents x
set record_count = n.record_count, body_digest = n.body_digest, content_digest = n.content_digest
from listing n where n.kind = 'document' and x.document_key = n.key
