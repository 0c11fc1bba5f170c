-- Plans just the scopes that failed in an earlier run and fail still.
-- Params: $1 runId, $2 failedOf (the earlier run).
insert into sync.run_items (run_id, kind, organization_key, batch_key, only_scopes, scopes_planned)
select $1, 'sync-batch', b.organization_key, f.batch_key,
  bit_or(set_bit(repeat('0', 256)::varbit, f.scope_no, 1)), count(distinct f.scope_no)
from sync.failures f
join sync.failing_scopes x on x.batch_key = f.batch_key and x.scope_no = f.scope_no
join collab_store.batches b on b.batch_key = f.batch_key
where f.run_id = $2 and f.resolved_at is null
group by b.organization_key, f.batch_key
order by f.batch_key
returning item_id, kind, round
