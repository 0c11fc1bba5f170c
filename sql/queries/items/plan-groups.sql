-- Plans the listings of some user groups.
-- Params: $1 runId, $2 organizationIds?, $3 userGroupIds.
insert into sync.run_items (run_id, kind, organization_key, batch_key, only_scopes, scopes_planned)
select $1, 'sync-batch', g.organization_key, g.batch_key,
  bit_or(set_bit(repeat('0', 256)::varbit, g.scope_no, 1)), count(*)
from collab_store.user_groups g
join collab_store.organizations o using (organization_key)
where ($2::text[] is null or o.organization_id = any($2)) and g.organization_user_group_id = any($3)
group by g.organization_key, g.batch_key
order by g.batch_key
returning item_id, kind, round
