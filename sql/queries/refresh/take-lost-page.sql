-- Takes over a page of threads that was returned or whose worker is dead. Pages of batches are dropped, because the
-- batches are due by their last check.
-- Params: $1 workerId, $2 at, $3 inProgress (pages that this worker processes), $4 deadAfterS.
-- Never null: page_id, class, from_active_at, from_key, to_active_at, to_key.
-- Prepared.
with lost as (
  select l.page_id, l.class, l.claimed_at
  from sync.refresh_pages l
  left join sync.workers w using (worker_id)
  where case when l.worker_id = $1 then l.page_id <> all($3::bigint[])
    else w.worker_id is null or w.heartbeat_at < now() - make_interval(secs => $4) end
  for update of l skip locked
), dropped as (
  delete from sync.refresh_pages where page_id in (select page_id from lost where class = 7)
)
update sync.refresh_pages p
set worker_id = $1, claimed_at = $2
where p.page_id = (select page_id from lost where class < 7 order by claimed_at limit 1)
returning page_id, class, from_active_at, from_key, to_active_at, to_key
