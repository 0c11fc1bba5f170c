-- Annotations to poll individually, with the columns of scopes/listings-of-batch, if they are in the catalog. Includes
-- their batch, whether their last check failed, and when they were last checked individually or in a complete pass.
-- Params: $1 keys.
-- Never null: kind, has_rows, has_own_check, batch_xmin, is_failing.
-- Prepared.
select 'annotation' as kind, a.annotation_key as key, a.scope_no, o.organization_key, o.organization_id, d.document_id,
  a.annotation_id, null::text as organization_user_group_id, a.body_digest, a.content_digest,
  a.comment_count as record_count, a.changed_at is not null as has_rows, a.own_checked_at is not null as has_own_check,
  b.batch_key, b.xmin::text as batch_xmin, a.failing_since is not null as is_failing,
  greatest(collab_store.last_good_check(a.own_checked_at, b.checked_at),
    (select w.pass_started_at from collab_store.pass_checks w where w.annotation_key = a.annotation_key)) as checked_at
from unnest($1::int[]) with ordinality k (annotation_key, place)
join collab_store.annotations a using (annotation_key)
-- Probes for each thread: joined, all documents and batches would be read.
cross join lateral (
  select document_id, organization_key from collab_store.documents where document_key = a.document_key
  offset 0
) d
cross join lateral (
  select batch_key, checked_at, xmin from collab_store.batches where batch_key = a.batch_key
  offset 0
) b
join collab_store.organizations o on o.organization_key = d.organization_key
where a.active and o.active
order by k.place
