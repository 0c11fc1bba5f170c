-- The last of the next comments in the order of their keys, and their number.
-- Params: $1 annotationKey, $2 commentId (after which they begin), $3 limit.
-- Never null: comments.
select annotation_key, comment_id, count(*) over ()::int as comments
from (
  select annotation_key, comment_id
  from collab_store.comments
  where (annotation_key, comment_id) > ($1, $2)
  order by annotation_key, comment_id
  limit $3
) page
order by annotation_key desc, comment_id desc
limit 1
