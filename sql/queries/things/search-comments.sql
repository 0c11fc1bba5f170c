-- Comments with a number: those of one annotation, or of all. At most 21 are returned, as by search.sql.
-- Params: $1 commentId, $2 annotationIds? (that the path may end with; null for all annotations), $3 path? (an annotation, or
-- its organization, document and annotation with slashes between them and no spaces around these).
-- Never null: organization_id, document_id, annotation_id, comment_id.
with found as materialized (
  (
    select annotation_key from collab_store.comments
    where comment_id = $1 and $2::text[] is null
    order by annotation_key
    limit 21
  )
  union all
  select c.annotation_key
  from collab_store.documents d
  -- Probed in each document, because no index begins with the ID of an annotation.
  cross join lateral (
    select annotation_key from collab_store.annotations
    where document_key = d.document_key and annotation_id = any($2)
    offset 0
  ) a
  join collab_store.comments c using (annotation_key)
  where c.comment_id = $1
)
select o.organization_id, d.document_id, a.annotation_id, c.comment_id, left(c.comment_text, 80) as name
from found f
join collab_store.comments c on c.annotation_key = f.annotation_key and c.comment_id = $1
join collab_store.annotations a on a.annotation_key = f.annotation_key
join collab_store.documents d using (document_key)
join collab_store.organizations o on o.organization_key = d.organization_key
where $2 is null or $3 in (
  regexp_replace(a.annotation_id, '\s*/\s*', '/', 'g'),
  regexp_replace(concat_ws('/', o.organization_id, d.document_id, a.annotation_id), '\s*/\s*', '/', 'g'))
order by o.organization_id, d.document_id, a.annotation_id
limit 21
