-- Plans just the scopes that failed in an earlier run.
-- Params: $1 runId, $2 failedOf (the earlier run).
insert into sync.run_items (run_id, kind, organization_key, batch_key, only_scopes, scopes_planned)
select $1, 'sync-batch', b.organization_key, f.batch_key,
  bit_or(set_bit(repeat('0', 256)::varbit, f.scope_no, 1)), count(distinct f.scope_no)
from sync.failures f
join collab_store.batches b using (batch_key)
where f.run_id = $2
group by b.organization_key, f.batch_key
order by f.batch_key
returning item_id, kind, round
