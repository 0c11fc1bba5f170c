-- Recomputes the stored facts of threads from their comments.
-- Params: $1 annotationKeys.
update collab_store.annotations a
set first_comment_at = f.first_comment_at, last_comment_at = f.last_comment_at, first_answer_at = f.first_answer_at
from unnest($1::int[]) as n (annotation_key)
cross join lateral collab_store.thread_facts(n.annotation_key) f
where a.annotation_key = n.annotation_key
  and (a.first_comment_at, a.last_comment_at, a.first_answer_at)
    is distinct from (f.first_comment_at, f.last_comment_at, f.first_answer_at)
