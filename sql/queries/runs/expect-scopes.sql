-- Notes how many scopes the catalog holds for a run that pages organizations: the denominator of its progress.
-- Params: $1 runId, $2 operations, $3 organizationIds?.
update sync.runs set scopes_expected = (
  select coalesce(sum(b.scopes), 0)
  from collab_store.batches b
  join collab_store.organizations o using (organization_key)
  where o.active and b.operation = any($2) and ($3::text[] is null or o.organization_id = any($3))
)
where run_id = $1
returning scopes_expected
