-- Comments with all that is stored of them.
-- Params: $1 annotationKeys, $2 commentIds.
select c.annotation_key, c.comment_id, c.comment_text, c.comment_html, c.author_user_id, c.author_name, c.author_email,
  c.status, c.type, c.last_updated, c.rest::text as rest
from unnest($1::int[], $2::bigint[]) as n (annotation_key, comment_id)
join collab_store.comments c using (annotation_key, comment_id)
