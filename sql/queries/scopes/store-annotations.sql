-- Stores facts about annotations whose response changed something or could not be stored completely (digests null).
-- Runs after the comments are written, because the facts of a thread come from them. Continuous refresh polls recently
-- changed threads more often.
-- Params: $1 keys, $2 liveComments, $3 bodyDigests[?], $4 contentDigests[?], $5 isChanged, $6 at, $7 activeAts[?] (when the
-- thread changed, as far as known), $8 recentS (how long that is lately).
with recent as (
  insert into collab_store.recent_threads as r (annotation_key, batch_key, active_at)
  select n.annotation_key, a.batch_key, least(n.active_at, $6)
  from unnest($1::int[], $7::timestamptz[]) as n (annotation_key, active_at)
  join collab_store.annotations a using (annotation_key)
  where n.active_at > $6::timestamptz - make_interval(secs => $8)
    and (select refresh_budget is not null from collab_store.definitions)
  on conflict (annotation_key) do update
  set active_at = excluded.active_at, written_in = excluded.written_in
  where excluded.active_at > r.active_at
)
update collab_store.annotations a
set comment_count = n.comment_count, body_digest = n.body_digest, content_digest = n.content_digest,
  changed_at = case when n.changed then $6 else a.changed_at end,
  first_comment_at = case when n.changed then f.first_comment_at else a.first_comment_at end,
  last_comment_at = case when n.changed then f.last_comment_at else a.last_comment_at end,
  first_answer_at = case when n.changed then f.first_answer_at else a.first_answer_at end,
  authors = case when n.changed then f.authors else a.authors end
from unnest($1::int[], $2::int[], $3::bytea[], $4::bytea[], $5::boolean[])
  as n (annotation_key, comment_count, body_digest, content_digest, changed)
left join lateral collab_store.thread_facts(n.annotation_key) f on n.changed
where a.annotation_key = n.annotation_key
