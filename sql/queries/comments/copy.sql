-- Adds comments that are not stored yet. The rows are sent as text (src/core/database/comment-rows.ts).
copy collab_store.comments (organization_key, annotation_key, comment_id, first_seen_at, changed_at, version_at, version, change,
  not_before, digest, day, written_at, /* comment columns: {column} */ comment_text, comment_html, author_user_id,
    author_name, author_email, status, type, last_updated, rest /* end */)
from stdin
