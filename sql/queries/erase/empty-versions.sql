-- Empties the earlier versions of comments.
-- Params: $1 annotationKeys, $2 commentIds.
update collab_store.comment_versions v
set /* comment words: {column} = null */ comment_text = null, comment_html = null /* end */
from unnest($1::int[], $2::bigint[]) as n (annotation_key, comment_id)
where v.annotation_key = n.annotation_key and v.comment_id = n.comment_id
  and num_nonnulls(/* comment words: v.{column} */ v.comment_text, v.comment_html /* end */) > 0
