-- What is known of annotations whose first answer was stored: all their comments are new, so that what reports ask of a
-- thread comes from the answer, and nothing is read back.
-- Params: $1 keys, $2 liveComments, $3 bodyDigests[?], $4 contentDigests[?], $5 firstCommentAts[?], $6 lastCommentAts[?], $7
-- firstAnswerAts[?], $8 authors (each an array as text), $9 at, $10 activeAts[?] and $11 recentS as in
-- scopes/store-answer-annotations.
with recent as (
  insert into collab_store.recent_threads as r (annotation_key, active_at)
  select n.annotation_key, least(n.active_at, $9)
  from unnest($1::int[], $10::timestamptz[]) as n (annotation_key, active_at)
  where n.active_at > $9::timestamptz - make_interval(secs => $11)
    and (select refresh_budget is not null from collab_store.definitions)
  on conflict (annotation_key) do update
  set active_at = excluded.active_at, written_in = excluded.written_in
  where excluded.active_at > r.active_at
)
update collab_store.annotations a
set comment_count = n.comment_count, body_digest = n.body_digest, content_digest = n.content_digest, changed_at = $9,
  first_comment_at = n.first_comment_at, last_comment_at = n.last_comment_at, first_answer_at = n.first_answer_at,
  authors = n.authors::text[]
from unnest($1::int[], $2::int[], $3::bytea[], $4::bytea[], $5::timestamptz[], $6::timestamptz[], $7::timestamptz[], $8::text[])
  as n (annotation_key, comment_count, body_digest, content_digest, first_comment_at, last_comment_at, first_answer_at, authors)
where a.annotation_key = n.annotation_key
