-- Takes over a page of threads that was given back, or whose worker is dead.
-- Params: $1 workerId, $2 at, $3 inProgress (pages that this worker works on), $4 deadAfterS.
-- Never null: page_id, class, pass, from_active_at, from_key, to_active_at, to_key.
-- Prepared.
update sync.refresh_pages p
set worker_id = $1, claimed_at = $2
where p.page_id = (
  select l.page_id
  from sync.refresh_pages l
  left join sync.workers w using (worker_id)
  where l.class < 7 and case when l.worker_id = $1 then l.page_id <> all($3::bigint[])
    else w.worker_id is null or w.heartbeat_at < now() - make_interval(secs => $4) end
  order by l.claimed_at
  limit 1
  for update of l skip locked
)
returning page_id, class, pass, from_active_at, from_key, to_active_at, to_key
