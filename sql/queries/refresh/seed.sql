-- Finds threads that changed recently, when continuous refresh is switched on.
-- Params: $1 recentS.
insert into collab_store.recent_threads (annotation_key, batch_key, active_at)
select annotation_key, batch_key, least(last_comment_at, date_trunc('milliseconds', now()))
from collab_store.annotations
where active and last_comment_at > now() - make_interval(secs => $1)
on conflict do nothing
