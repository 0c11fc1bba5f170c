-- How much there is to sync and when it was last gone through, from the batches alone: a few thousand rows for a million
-- annotations. Scopes that differ from their batch are in reporting.freshness.
-- Params: none.
-- Never null: scopes, annotations, never_checked.
select coalesce(sum(b.scopes), 0)::bigint as scopes,
  coalesce(sum(b.scopes) filter (where b.operation = 'comments'), 0)::bigint as annotations,
  coalesce(sum(b.scopes) filter (where b.checked_at is null), 0)::bigint as never_checked,
  min(b.checked_at) as oldest_check, max(b.checked_at) as newest_check
from collab_store.batches b
join collab_store.organizations o using (organization_key)
where o.active and b.scopes > 0
