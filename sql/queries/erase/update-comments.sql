-- Writes comments as they are once a person is erased. No version is made: it would say that somebody edited them.
-- Params: $1 annotationKeys, $2 commentIds, $3 commentTexts[?], $4 commentHtmls[?], $5 authorUserIds[?], $6 authorNames[?],
-- $7 authorEmails[?], $8 statuses[?], $9 types[?], $10 rests[?], $11 digests.
update collab_store.comments c
set comment_text = n.comment_text, comment_html = n.comment_html, author_user_id = n.author_user_id,
  author_name = n.author_name, author_email = n.author_email, status = n.status, type = n.type, rest = n.rest::jsonb,
  digest = n.digest, changed_at = greatest(c.changed_at, now())
from unnest($1::int[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
    $10::text[], $11::bytea[])
  as n (annotation_key, comment_id, comment_text, comment_html, author_user_id, author_name, author_email, status, type, rest,
    digest)
where c.annotation_key = n.annotation_key and c.comment_id = n.comment_id
