-- Open runs without pending items, which only have to be finished.
-- Params: none.
-- Prepared.
select run_id from sync.runs r
where status in ('queued', 'running')
  and not exists (select from sync.run_items i where i.run_id = r.run_id and i.state = 'pending')
