-- Items of open runs without a live worker: candidates to enqueue again, those of partial runs first. The calling
-- worker knows which of its claimed items are in progress; for other workers, the heartbeat decides.
-- Params: $1 deadAfterS, $2 limit, $3 workerId (the caller), $4 inProgress (items that it works on).
-- Never null: run_id, item_id, kind, round, is_scoped.
-- Prepared.
select i.run_id, i.item_id, i.kind, i.round, i.only_scopes is not null or r.scope - 'operations' <> '{}' as is_scoped
from sync.runs r
join sync.run_items i using (run_id)
left join sync.workers w using (worker_id)
where r.status in ('queued', 'running') and i.state = 'pending' and i.kind <> 'refresh'
  and case when i.worker_id = $3 then i.item_id <> all($4)
    else w.worker_id is null or w.heartbeat_at < now() - make_interval(secs => $1) end
order by is_scoped desc, i.run_id, i.item_id
limit $2
