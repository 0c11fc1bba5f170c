-- Takes threads that a caller has reported as changed, the longest waiting first, and those that a worker took and has not
-- polled for so long: it is dead, or its polls were given up.
-- Params: $1 workerId, $2 limit, $3 deadAfterS.
-- Prepared.
update sync.hints h
set worker_id = $1, claimed_at = clock_timestamp()
where h.annotation_key in (
  select w.annotation_key
  from sync.hints w
  where w.claimed_at is null or w.claimed_at < clock_timestamp() - make_interval(secs => $3)
  order by w.hinted_at
  limit $2
  for update skip locked
)
returning annotation_key as key
