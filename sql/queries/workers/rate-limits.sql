-- SYNC_RATE_LIMIT of the workers that live and who has it, the lowest first, which holds for all; none last.
-- Params: $1 deadAfterS (seconds without a heartbeat after which a worker is taken for dead).
-- Never null: worker_ids.
select rate_limit, array_agg(worker_id order by worker_id) as worker_ids
from sync.workers
where heartbeat_at >= now() - make_interval(secs => $1)
group by rate_limit
order by rate_limit nulls last
