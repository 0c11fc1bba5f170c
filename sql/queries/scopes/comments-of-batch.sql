-- The annotations of a comments batch, with the columns of scopes/listings-of-batch and the time of each one's last
-- successful check.
-- Params: $1 batchKey, $2 onlyScopes? (bits; null for all).
-- Never null: kind, has_rows, has_own_check, is_failing.
-- Prepared.
select 'annotation' as kind, a.annotation_key as key, a.scope_no, o.organization_key, o.organization_id, d.document_id,
  a.annotation_id, null::text as organization_user_group_id, a.body_digest, a.content_digest,
  a.comment_count as record_count, a.changed_at is not null as has_rows, a.own_checked_at is not null as has_own_check,
  a.failing_since is not null as is_failing,
  collab_store.last_good_check(a.own_checked_at, b.checked_at) as checked_at
from collab_store.batches b
join collab_store.organizations o using (organization_key)
join collab_store.annotations a on a.batch_key = b.batch_key
join collab_store.documents d on d.document_key = a.document_key
where b.batch_key = $1 and a.active and ($2::text is null or substr($2, a.scope_no + 1, 1) = '1')
order by a.scope_no
