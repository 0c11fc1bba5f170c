-- Comments with all that is stored of them.
-- Params: $1 annotationKeys, $2 commentIds.
select c.annotation_key, c.comment_id, /* comment columns: {stored} */ comment_text, comment_html, author_user_id,
  author_name, author_email, status, type, last_updated, rest::text as rest /* end */
from unnest($1::int[], $2::bigint[]) as n (annotation_key, comment_id)
join collab_store.comments c using (annotation_key, comment_id)
