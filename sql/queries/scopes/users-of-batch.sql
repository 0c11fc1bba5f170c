-- The listings of a users batch: the organization's own (scope 0 of batch 0), groups and documents.
-- With each come the ids to ask by, and what is known of its last stored answer. key is ours, scope_no its place in the batch,
-- record_count the live records under it. has_rows is false where nothing was ever stored under it: rows are stored under a
-- listing that held anybody, and under one whose last answer was stored in full. has_own_check is true where its time of check
-- is not its batch's, is_failing where its last try failed.
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
