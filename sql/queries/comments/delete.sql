-- Marks comments as deleted for whose IDs the service returned null. They keep their content.
-- Params: $1 annotationKeys, $2 commentIds, $3 ats.
with gone as (
  select c.*, n.at
  from unnest($1::int[], $2::bigint[], $3::timestamptz[]) as n (annotation_key, comment_id, at)
  join collab_store.comments c using (annotation_key, comment_id)
  where c.deleted_at is null
), kept as (
  insert into collab_store.comment_versions (annotation_key, comment_id, version, change, valid_from, valid_to,
    /* comment columns of a version: {column} */ comment_text, comment_html, status, type, last_updated /* end */)
  select annotation_key, comment_id, version, change, version_at, greatest(version_at, at),
    /* comment columns of a version: {column} */ comment_text, comment_html, status, type, last_updated /* end */
  from gone
)
update collab_store.comments c
set deleted_at = g.at, changed_at = greatest(c.changed_at, g.at), version_at = greatest(c.version_at, g.at), version = c.version + 1, change = 'deleted'
from gone g
where c.annotation_key = g.annotation_key and c.comment_id = g.comment_id
