-- When the picture was taken, and from when on the next export has to look: what is written by a transaction or an item that
-- is under way carries the time of its begin, and is not in this picture.
-- Params: none.
-- Never null: taken_at, next_since.
select now() as taken_at, least(now(),
  (select min(a.xact_start) from pg_stat_activity a where a.datname = current_database() and a.backend_type = 'client backend'),
  (select min(i.claimed_at) from sync.runs r join sync.run_items i using (run_id)
    where r.status in ('queued', 'running') and i.state = 'pending')) as next_since
