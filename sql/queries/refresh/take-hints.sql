-- Claims hinted threads, longest waiting first, and those claimed by a worker that has not polled them for too long
-- because it is dead or gave up.
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
