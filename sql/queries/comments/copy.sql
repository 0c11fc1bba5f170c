-- Adds comments that are not stored yet, as binary rows (src/database/comment-rows.ts).
copy collab_store.comments (organization_key, annotation_key, comment_id, last_updated, first_seen_at, changed_at, version_at,
  version, digest, change, status, type, author_user_id, author_name, author_email, comment_text, comment_html, rest)
from stdin with (format binary)
