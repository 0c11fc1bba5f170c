-- Empties the earlier versions of comments.
-- Params: $1 annotationKeys, $2 commentIds.
update collab_store.comment_versions v
set comment_text = null, comment_html = null
from unnest($1::int[], $2::bigint[]) as n (annotation_key, comment_id)
where v.annotation_key = n.annotation_key and v.comment_id = n.comment_id
  and (v.comment_text is not null or v.comment_html is not null)
