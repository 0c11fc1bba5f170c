-- Creates the first item of a run that pages through organizations; none if the catalog has no scopes for it. Stores
-- the number of scopes in the catalog, which is the denominator of the run's progress.
-- Params: $1 runId, $2 operations, $3 organizationIds? (null for all active ones).
with expected as (
  update sync.runs set scopes_expected = (
    select coalesce(sum(b.scopes), 0)
    from collab_store.batches b
    join collab_store.organizations o using (organization_key)
    where o.active and b.operation = any($2) and ($3::text[] is null or o.organization_id = any($3))
  )
  where run_id = $1
  returning scopes_expected
)
insert into sync.run_items (run_id, kind)
select $1, 'page-organizations' from expected where scopes_expected > 0
returning item_id, kind, round
