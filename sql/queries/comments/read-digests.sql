-- All comments stored for some annotations: digest, and whether deleted.
-- Params: $1 annotationKeys.
-- Never null: deleted.
-- Prepared.
select annotation_key, comment_id, digest, deleted_at is not null as deleted
from collab_store.comments
where annotation_key = any($1)
