-- Changes comments that are stored, live or deleted. The old version is kept when the content changed or the comment is
-- back; a change of the author's name or of an undocumented member alone makes no version.
-- No version ends before it began, though the clock be set back.
-- Params: $1 annotationKeys, $2 commentIds, $3 lastUpdateds[?], $4 commentTexts[?], $5 commentHtmls[?], $6 statuses[?], $7
-- types[?], $8 authorUserIds[?], $9 authorNames[?], $10 authorEmails[?], $11 rests[?], $12 digests, $13 at.
with new as (
  select *
  from unnest($1::int[], $2::bigint[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
    $9::text[], $10::text[], $11::text[], $12::bytea[])
    as n (annotation_key, comment_id, last_updated, comment_text, comment_html, status, type, author_user_id,
      author_name, author_email, rest, digest)
), superseded as (
  select c.annotation_key, c.comment_id,
    case
      when c.deleted_at is not null then 'restored'
      when (c.comment_text, c.comment_html, c.status, c.type, c.last_updated)
        is distinct from (n.comment_text, n.comment_html, n.status, n.type, n.last_updated) then 'edited'
    end as change
  from new n join collab_store.comments c using (annotation_key, comment_id)
), kept as (
  insert into collab_store.comment_versions (annotation_key, comment_id, version, comment_text, comment_html, status, type,
    last_updated, change, valid_from, valid_to)
  select c.annotation_key, c.comment_id, c.version, c.comment_text, c.comment_html, c.status, c.type, c.last_updated,
    c.change, c.version_at, greatest(c.version_at, $13)
  from superseded s join collab_store.comments c using (annotation_key, comment_id)
  where s.change is not null
)
update collab_store.comments c
set last_updated = n.last_updated, comment_text = n.comment_text, comment_html = n.comment_html, status = n.status,
  type = n.type, author_user_id = n.author_user_id, author_name = n.author_name, author_email = n.author_email,
  rest = n.rest::jsonb, digest = n.digest, changed_at = greatest(c.changed_at, $13), deleted_at = null,
  version = c.version + (s.change is not null)::int, change = coalesce(s.change, c.change),
  version_at = case when s.change is null then c.version_at else greatest(c.version_at, $13) end
from new n join superseded s using (annotation_key, comment_id)
where c.annotation_key = n.annotation_key and c.comment_id = n.comment_id
