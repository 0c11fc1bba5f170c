-- Adds comments that are not stored yet, as binary rows (src/database/comment-rows.ts).
copy collab_store.comments (organization_key, annotation_key, comment_id, first_seen_at, changed_at, version_at, version, digest,
  change, day, written_at, not_before, /* comment columns: {column} */ comment_text, comment_html, author_user_id,
    author_name, author_email, status, type, last_updated, rest /* end */)
from stdin with (format binary)
