-- Stores facts about listings whose response was stored: number of records and digests.
-- Params: $1 batchKey, $2 scopeNos, $3 recordCounts, $4 bodyDigests[?], $5 contentDigests[?].
update collab_store.listings l
set record_count = n.record_count, body_digest = n.body_digest, content_digest = n.content_digest
from unnest($2::smallint[], $3::int[], $4::bytea[], $5::bytea[]) as n (scope_no, record_count, body_digest, content_digest)
where l.batch_key = $1 and l.scope_no = n.scope_no
