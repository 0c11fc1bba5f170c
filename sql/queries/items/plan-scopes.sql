-- Plans the scopes that a run names (sync.scopes_of). Creates one item per batch.
-- Params: $1 runId, $2 operations, $3 organizationIds?, $4 documentId?, $5 annotationId? (null for all active ones),
-- $6 userGroupIds?, $7 areUsersNamed (organizations are queried for some users), $8 failedOf? (the earlier run),
-- $9 isFailing (only scopes that fail now), $10 areWhole (organizations are synced as a whole).
-- Never null: item_id, kind, round.
with planned as (
  insert into sync.run_items (run_id, kind, organization_key, batch_key, only_scopes, scopes_planned)
  select $1, 'sync-batch', organization_key, batch_key, bit_or(set_bit(repeat('0', 256)::varbit, scope_no, 1)), count(*)
  from sync.scopes_of($2, $3, $4, $5, $6, $7, $8, $9, $10)
  group by organization_key, batch_key
  order by batch_key
  returning item_id, kind, round, scopes_planned
), expected as (
  update sync.runs set scopes_expected = (select coalesce(sum(scopes_planned), 0) from planned)
  where run_id = $1
)
select item_id, kind, round from planned order by item_id
