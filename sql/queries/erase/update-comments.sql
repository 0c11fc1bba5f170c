-- Writes comments after a person was erased. This creates no version, because a version would report an edit.
-- Params: $1 annotationKeys, $2 commentIds, $3 digests, $4 and on comment columns but times.
update collab_store.comments c
set /* comment columns but times: {column} = n.{column} */ comment_text = n.comment_text, comment_html = n.comment_html,
  author_user_id = n.author_user_id, author_name = n.author_name, author_email = n.author_email, status = n.status,
  type = n.type, rest = n.rest /* end */,
  digest = n.digest, changed_at = greatest(c.changed_at, now())
from unnest($1::int[], $2::bigint[], $3::bytea[], /* comment columns but times: {parameter}::{type}[] */ $4::text[],
  $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::jsonb[] /* end */)
  as n (annotation_key, comment_id, digest, /* comment columns but times: {column} */ comment_text, comment_html,
    author_user_id, author_name, author_email, status, type, rest /* end */)
where c.annotation_key = n.annotation_key and c.comment_id = n.comment_id
