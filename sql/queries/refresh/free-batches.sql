-- Batches that a dead worker had in hand, or this one before it was interrupted: they are due by when they were last checked.
-- Params: $1 workerId, $2 inProgress (pages that this worker works on), $3 deadAfterS.
-- Prepared.
delete from sync.refresh_pages p
where p.class = 7 and case when p.worker_id = $1 then p.page_id <> all($2::bigint[])
  else not exists (select from sync.workers w where w.worker_id = p.worker_id and w.heartbeat_at > now() - make_interval(secs => $3)) end
