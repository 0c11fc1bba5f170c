-- Plans one page of organizations: the first batches of each become items, an organization with more batches gets its
-- own paging item, and the next page of organizations another. The transaction also finishes the item itself, so that a
-- page delivered twice is planned once.
-- Params: $1 runId, $2 itemId, $3 operations, $4 organizationIds?, $5 limit (organizations per page), $6 batchesOfEach.
with self as (
  update sync.run_items set state = 'done', finished_at = now()
  where run_id = $1 and item_id = $2 and state = 'pending'
  returning after_key
), page as (
  select o.organization_key
  from collab_store.organizations o, self
  where o.active and o.organization_key > self.after_key
    and ($4::text[] is null or o.organization_id = any($4))
  order by o.organization_key
  limit $5
), numbered as (
  select b.organization_key, b.batch_key, b.scopes,
    row_number() over (partition by b.organization_key order by b.batch_key) as place
  from page join collab_store.batches b using (organization_key)
  where b.operation = any($3) and b.scopes > 0
), next_items as (
  select 'sync-batch' as kind, organization_key, batch_key, 0 as after_key, scopes, 0 as round, place
  from numbered where place <= $6
  union all
  select 'page-documents', organization_key, null, batch_key, 0, 1, place
  from numbered n where place = $6
    and exists (select from numbered m where m.organization_key = n.organization_key and m.place > $6)
  union all
  select 'page-organizations', null, null, max(organization_key), 0, 0, 0
  from page having count(*) = $5
)
insert into sync.run_items (run_id, kind, organization_key, batch_key, after_key, scopes_planned, round)
select $1, kind, organization_key, batch_key, after_key, scopes, round
from next_items
-- The first batch of every organization, then the second of each: those of one organization write the same users, and side
-- by side they would wait for each other's rows.
order by organization_key is null, place, organization_key, kind desc
returning item_id, kind, round
