-- The listings of a users batch: the organization's own (scope 0 of batch 0), user groups and documents. Each has the
-- IDs for the call and facts about its last stored response. key is internal, scope_no is the position in the batch,
-- record_count the number of live records. has_rows is false if nothing was ever stored for it: rows are stored for a
-- listing that contained users, and for one whose last response was stored completely. has_own_check is true if its
-- check time differs from its batch's, is_failing if its last check failed.
-- Params: $1 batchKey.
-- Never null: kind, key, scope_no, organization_key, organization_id, record_count, has_rows, has_own_check, is_failing.
-- Typed as: kind sync.held.kind.
-- Prepared.
select 'organization' as kind, o.organization_key as key, 0::smallint as scope_no, o.organization_key, o.organization_id,
  null::text as document_id, null::text as annotation_id, null::text as organization_user_group_id,
  o.body_digest, o.content_digest, o.record_count, o.record_count > 0 or o.content_digest is not null as has_rows,
  o.own_checked_at is not null as has_own_check, o.failing_since is not null as is_failing
from collab_store.batches b
join collab_store.organizations o using (organization_key)
where b.batch_key = $1 and b.batch_no = 0 and o.active
union all
select 'group', g.user_group_key, g.scope_no, o.organization_key, o.organization_id, null, null,
  g.organization_user_group_id, g.body_digest, g.content_digest, g.record_count, g.record_count > 0 or g.content_digest is not null,
  g.own_checked_at is not null, g.failing_since is not null
from collab_store.user_groups g
join collab_store.organizations o using (organization_key)
where g.batch_key = $1 and g.active
union all
select 'document', d.document_key, d.scope_no, o.organization_key, o.organization_id, d.document_id, null, null,
  d.body_digest, d.content_digest, d.record_count, d.record_count > 0 or d.content_digest is not null, d.own_checked_at is not null,
  d.failing_since is not null
from collab_store.documents d
join collab_store.organizations o using (organization_key)
where d.batch_key = $1 and d.active
order by scope_no
