-- Runs under way of which nothing is pending: all that is left is to finish them.
-- Params: none.
select run_id from sync.runs r
where status in ('queued', 'running')
  and not exists (select from sync.run_items i where i.run_id = r.run_id and i.state = 'pending')
