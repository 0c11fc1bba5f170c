-- Takes threads of which somebody said that they changed, the longest waiting first.
-- Params: $1 workerId, $2 limit, $3 deadAfterS.
-- Prepared.
update sync.hints h
set worker_id = $1, claimed_at = clock_timestamp()
where h.annotation_key in (
  select w.annotation_key
  from sync.hints w
  where w.claimed_at is null
    or not exists (select from sync.workers a where a.worker_id = w.worker_id and a.heartbeat_at > now() - make_interval(secs => $3))
  order by w.hinted_at
  limit $2
  for update skip locked
)
returning annotation_key as key
