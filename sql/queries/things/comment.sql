-- One comment, with the current name and address of its author, and the run that found its deletion.
-- Params: $1 annotationKey, $2 commentId, $3 organizationId, $4 documentId, $5 annotationId.
-- Never null: first_seen_at, changed_at, version, raw.
select v.comment_text as text, v.author_user_id, coalesce(u.name, v.author_name) as author_name,
  coalesce(u.email, v.author_email) as author_email, v.status, v.type, v.written_at, v.last_updated, v.first_seen_at,
  v.changed_at, v.deleted_at, c.version, v.raw,
  case when c.deleted_at is not null then collab_store.run_of('comment', $1, $2, null, c.deleted_at) end as deleted_run_id
from collab_store.comments c
join collab.comments v using (comment_id)
left join collab_store.users u on u.organization_key = c.organization_key and u.user_id = c.author_user_id
where c.annotation_key = $1 and c.comment_id = $2 and v.organization_id = $3 and v.document_id = $4 and v.annotation_id = $5
