-- Adds new annotations; own_checked_at as in add-listings. With continuous refresh, a few are checked next. Those of
-- a large import remain unchecked batches, because they would delay all others.
-- Params: none.
-- Never null: scopes.
with added as (
  insert into collab_store.annotations
    (document_key, batch_key, scope_no, own_checked_at, annotation_id)
  select s.document_key, b.batch_key, s.number % 256,
    case when b.assigned > 0 then timestamptz '-infinity' end,
    s.annotation_id
  from import_new_annotations s
  join collab_store.batches b on b.organization_key = s.organization_key
    and b.operation = 'comments' and b.batch_no = s.number / 256
  order by s.organization_key, s.number
  returning batch_key, annotation_key
), recent as (
  insert into collab_store.recent_threads (annotation_key, batch_key, active_at)
  select a.annotation_key, a.batch_key, date_trunc('milliseconds', now())
  from added a
  where (select refresh_budget is not null from collab_store.definitions)
    and (select count(*) from added) <= greatest(100, (select sum(b.scopes) from collab_store.batches b) / 100)
), touched as (
  insert into import_touched_batches select distinct batch_key from added
)
select count(*) as scopes from added;
