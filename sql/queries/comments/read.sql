-- Comments stored for an annotation with all their content: those with some IDs, including deleted ones, or all live
-- ones.
-- Params: $1 annotationKey, $2 commentIds?.
-- Never null: deleted.
select comment_id, /* comment columns: {stored} */ comment_text, comment_html, author_user_id, author_name, author_email,
  status, type, last_updated, rest::text as rest /* end */,
  digest, changed_at, deleted_at is not null as deleted
from collab_store.comments
where annotation_key = $1
  and case when $2::bigint[] is null then deleted_at is null else comment_id = any($2) end
