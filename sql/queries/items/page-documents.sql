-- The next batches of one large organization, and a paging item for the remaining ones.
-- Params: $1 runId, $2 itemId, $3 operations, $4 limit (batches per page).
with self as (
  update sync.run_items set state = 'done', finished_at = now()
  where run_id = $1 and item_id = $2 and state = 'pending'
  returning organization_key, after_key, round
), page as (
  select b.organization_key, b.batch_key, b.scopes, self.round
  from collab_store.batches b join self using (organization_key)
  where b.batch_key > self.after_key and b.operation = any($3) and b.scopes > 0
  order by b.batch_key
  limit $4
), next_items as (
  select 'sync-batch' as kind, organization_key, batch_key, 0 as after_key, scopes, round from page
  union all
  select 'page-documents', min(organization_key), null, max(batch_key), 0, (min(round) + 1)::smallint
  from page having count(*) = $4
)
insert into sync.run_items (run_id, kind, organization_key, batch_key, after_key, scopes_planned, round)
select $1, kind, organization_key, batch_key, after_key, scopes, round
from next_items
order by after_key, batch_key
returning item_id, kind, round
