-- What is known of listings whose answer was stored.
-- Params: $1 keys, $2 users (in the listing), $3 bodyDigests[?], $4 contentDigests[?].
update collab_store.organizations x
set record_count = n.record_count, body_digest = n.body_digest, content_digest = n.content_digest
from unnest($1::int[], $2::int[], $3::bytea[], $4::bytea[]) as n (key, record_count, body_digest, content_digest)
where x.organization_key = n.key
