-- Whether another live worker has no problem: it can take jobs and call the service, as far as it knows.
-- Params: $1 workerId (the asking one), $2 deadAfterS (seconds without a heartbeat after which a worker is taken for dead).
-- Never null: able.
select exists (
  select from sync.workers
  where worker_id <> $1 and problem is null and heartbeat_at >= now() - make_interval(secs => $2)
) as able
