-- The next threads of a pass, latest change first: those between two positions of the cursor.
-- Params: $1 fromActiveAt, $2 fromKey, $3 toActiveAt, $4 toKey, $5 limit.
-- Prepared.
select annotation_key as key, active_at
from collab_store.recent_threads
where (active_at, annotation_key) < ($1::timestamptz, $2::int) and (active_at, annotation_key) >= ($3::timestamptz, $4::int)
order by active_at desc, annotation_key desc
limit $5
