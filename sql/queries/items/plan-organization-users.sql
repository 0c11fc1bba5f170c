-- Plans a question about some users to organizations as a whole (scope 0 of users batch 0).
-- Params: $1 runId, $2 organizationIds? (null for all active ones).
insert into sync.run_items (run_id, kind, organization_key, batch_key, only_scopes, scopes_planned)
select $1, 'sync-batch', b.organization_key, b.batch_key, set_bit(repeat('0', 256)::varbit, 0, 1), 1
from collab_store.batches b
join collab_store.organizations o using (organization_key)
where b.operation = 'users' and b.batch_no = 0
  and case when $2::text[] is null then o.active else o.organization_id = any($2) end
order by b.batch_key
returning item_id, kind, round
