-- Updates stored comments, live or deleted. The old version is kept if the content changed or the comment is restored;
-- a change of only the author's name or of an undocumented field creates no version. No version ends before it began,
-- even if the clock was set back. The first change of lastUpdated stores the first one in the row, because
-- versions are pruned.
-- Params: $1 annotationKeys, $2 commentIds, $3 digests, $4 ats, $5 writtenAts[?], $6 and on comment columns.
with new as (
  select *
  from unnest($1::int[], $2::bigint[], $3::bytea[], $4::timestamptz[], $5::timestamptz[],
      /* comment columns: {parameter}::{type}[] */ $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[],
        $12::text[], $13::timestamptz[], $14::jsonb[] /* end */)
    as n (annotation_key, comment_id, digest, at, written_at, /* comment columns: {column} */ comment_text, comment_html,
      author_user_id, author_name, author_email, status, type, last_updated, rest /* end */)
), superseded as (
  select c.annotation_key, c.comment_id,
    case
      when c.deleted_at is not null then 'restored'
      when (/* comment columns of a version: c.{column} */ c.comment_text, c.comment_html, c.status, c.type,
        c.last_updated /* end */)
        is distinct from (/* comment columns of a version: n.{column} */ n.comment_text, n.comment_html, n.status, n.type,
          n.last_updated /* end */) then 'edited'
    end as change,
    case when c.first_updated is null and n.last_updated is distinct from c.last_updated
      then coalesce(c.last_updated, '-infinity')
      else c.first_updated end as first_updated,
    coalesce(n.written_at, c.written_at) as written_at, n.at
  from new n join collab_store.comments c using (annotation_key, comment_id)
), kept as (
  insert into collab_store.comment_versions (annotation_key, comment_id, version, change, valid_from, valid_to,
    /* comment columns of a version: {column} */ comment_text, comment_html, status, type, last_updated /* end */)
  select c.annotation_key, c.comment_id, c.version, c.change, c.version_at, greatest(c.version_at, s.at),
    /* comment columns of a version: c.{column} */ c.comment_text, c.comment_html, c.status, c.type,
      c.last_updated /* end */
  from superseded s join collab_store.comments c using (annotation_key, comment_id)
  where s.change is not null
)
update collab_store.comments c
set /* comment columns: {column} = n.{column} */ comment_text = n.comment_text, comment_html = n.comment_html,
  author_user_id = n.author_user_id, author_name = n.author_name, author_email = n.author_email, status = n.status,
  type = n.type, last_updated = n.last_updated, rest = n.rest /* end */,
  written_at = s.written_at, first_updated = s.first_updated,
  day = (collab_store.written_at(s.written_at, s.first_updated, n.last_updated) at time zone (select report_time_zone from collab_store.definitions))::date,
  digest = n.digest, changed_at = greatest(c.changed_at, n.at), deleted_at = null,
  version = c.version + (s.change is not null)::int, change = coalesce(s.change, c.change),
  version_at = case when s.change is null then c.version_at else greatest(c.version_at, n.at) end
from new n join superseded s using (annotation_key, comment_id)
where c.annotation_key = n.annotation_key and c.comment_id = n.comment_id
