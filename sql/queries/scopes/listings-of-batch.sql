-- The listings of a batch: those of the organization, of user groups and of documents. Each has the IDs for the
-- call and facts about its last stored response. key is internal, scope_no is the position in the batch, record_count
-- the number of live records. has_rows is false if nothing was ever stored for it: rows are stored for a listing that
-- contained records, and for one whose last response was stored completely. has_own_check is true if its check time
-- differs from its batch's, is_failing if its last check failed.
-- Params: $1 batchKey, $2 onlyScopes? (bits; null for all).
-- Never null: kind, key, scope_no, organization_key, organization_id, record_count, has_rows, has_own_check, is_failing.
-- Typed as: kind sync.held.kind.
-- Prepared.
select l.kind, l.scope_key as key, l.scope_no, o.organization_key, o.organization_id, d.document_id, null::text as annotation_id,
  g.organization_user_group_id, l.body_digest, l.content_digest, l.record_count,
  l.record_count > 0 or l.content_digest is not null as has_rows, l.own_checked_at is not null as has_own_check,
  l.failing_since is not null as is_failing
from collab_store.batches b
join collab_store.listings l using (batch_key)
join collab_store.organizations o using (organization_key)
left join collab_store.documents d on l.kind = 'document' and d.document_key = l.scope_key
left join collab_store.user_groups g on l.kind = 'group' and g.user_group_key = l.scope_key
where b.batch_key = $1 and l.active and ($2::text is null or substr($2, l.scope_no + 1, 1) = '1')
order by l.scope_no
