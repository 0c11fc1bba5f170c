-- A page of the versions of a comment, newest first, each with the text and status of the previous version. A change of
-- another field, such as the author, creates no version: changed_at says when the current one last had such a change.
-- Params: $1 annotationKey, $2 commentId, $3 beforeVersion?, $4 limit.
-- Never null: version, change, valid_from.
-- Typed as: change collab_store.comments.change.
with versions as (
  select version, change, valid_from, comment_text, comment_html, status, type, null::timestamptz as changed_at
  from collab_store.comment_versions
  where annotation_key = $1 and comment_id = $2
  union all
  select version, change, version_at, comment_text, comment_html, status, type,
    case when changed_at > version_at then changed_at end
  from collab_store.comments
  where annotation_key = $1 and comment_id = $2
)
select v.version, v.change, v.valid_from, v.comment_text, v.status, v.type, v.changed_at, b.version as version_before,
  b.comment_text as text_before, b.status as status_before, b.type as type_before,
  v.comment_html is distinct from b.comment_html as has_other_html,
  collab_store.run_of('comment', $1, $2, null, v.valid_from) as run_id
from versions v
left join versions b on b.version = v.version - 1
where $3::int is null or v.version < $3
order by v.version desc
limit $4
