-- How many workers live.
-- Params: $1 deadAfterS (seconds without a heartbeat after which a worker is taken for dead).
-- Never null: alive.
select count(*)::int as alive from sync.workers where heartbeat_at >= now() - make_interval(secs => $1)
