-- Items of runs under way that no live worker works on: candidates to enqueue again, those of narrowed runs first. The worker
-- that calls knows which of the items that it claimed are in progress; for those of the others, the heartbeat decides.
-- Params: $1 deadAfterS (seconds without a heartbeat after which a worker is taken for dead), $2 limit, $3 workerId (who
-- calls), $4 inProgress (items that it works on).
-- Never null: run_id, item_id, kind, round, is_narrow.
select i.run_id, i.item_id, i.kind, i.round, i.only_scopes is not null or r.scope - 'operations' <> '{}' as is_narrow
from sync.runs r
join sync.run_items i using (run_id)
left join sync.workers w using (worker_id)
where r.status in ('queued', 'running') and i.state = 'pending' and i.kind <> 'refresh'
  and case when i.worker_id = $3 then i.item_id <> all($4)
    else w.worker_id is null or w.heartbeat_at < now() - make_interval(secs => $1) end
order by is_narrow desc, i.run_id, i.item_id
limit $2
