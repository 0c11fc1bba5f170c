-- Stores annotations of a document as hinted, and counts them. An unclaimed hint is not written again, because it is
-- polled later than now. Inserts in the order of keys, to avoid deadlocks between hints.
-- Params: $1 organizationId, $2 documentId, $3 annotationId? (null for all that are active).
-- Never null: annotations.
with threads as materialized (
  select a.annotation_key
  from collab_store.annotations a
  join collab_store.documents d using (document_key)
  join collab_store.organizations o using (organization_key)
  where o.organization_id = $1 and d.document_id = $2
    and case when $3::text is null then a.active else a.annotation_id = $3 end
), written as (
  insert into sync.hints (annotation_key)
  select annotation_key from threads t
  where not exists (select from sync.hints h where h.annotation_key = t.annotation_key and h.claimed_at is null)
  order by annotation_key
  on conflict (annotation_key) do update set hinted_at = clock_timestamp(), claimed_at = null, worker_id = null
    where hints.claimed_at is not null
)
select count(*)::int as annotations from threads
