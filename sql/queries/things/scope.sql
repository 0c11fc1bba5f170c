-- One organization, user group, document or annotation, and its check: a single row, whichever of them the ids name. The run of
-- the check is the one whose claim of the batch began then, among the runs that were under way; the failing run, the last one that failed to fetch it. That time passed through milliseconds.
-- Params: $1 organizationId, $2 documentId?, $3 annotationId?, $4 userGroupId?.
-- Never null: organization_key, key, active, in_catalog, is_stale, users, annotations, comments, failing, authors, is_erasing.
with place as (
  select o.organization_key, o.name as organization_name, d.name as document_name, coalesce(g.user_group_key, a.annotation_key, d.document_key, o.organization_key) as key,
    coalesce(a.batch_key, l.batch_key) as batch_key, d.document_key, a.annotation_key, l.record_count as users, a.first_comment_at, a.last_comment_at, a.first_answer_at,
    a.changed_at, coalesce(a.authors, '{}') as authors
  from collab_store.organizations o
  left join collab_store.user_groups g on g.organization_key = o.organization_key and g.organization_user_group_id = $4
  left join collab_store.documents d on d.organization_key = o.organization_key and d.document_id = $2
  left join collab_store.annotations a on a.document_key = d.document_key and a.annotation_id = $3
  join collab_store.listings l on l.operation = 'users' and l.scope_key = coalesce(g.user_group_key, d.document_key, o.organization_key)
    and l.kind = case when g.user_group_key is not null then 'group' when d.document_key is not null then 'document' else 'organization' end
  where o.organization_id = $1
)
select p.organization_key, p.organization_name, p.document_name, p.key, s.name, s.active, s.in_catalog, s.checked_at, s.failing_since, s.is_stale, p.users,
  t.annotations, t.comments, t.failing, p.first_comment_at, p.last_comment_at, p.first_answer_at, p.changed_at, p.authors,
  exists (select from sync.erasures e
    where e.finished_at is null and (e.organization_id is null or e.organization_id = $1)) as is_erasing,
  (select i.run_id
    from sync.runs r
    join sync.run_items i using (run_id)
    where r.requested_at <= s.checked_at and r.requested_at > s.checked_at - interval '7 days'
      and coalesce(r.finished_at, 'infinity') >= s.checked_at and i.batch_key = p.batch_key
      and date_trunc('milliseconds', i.claimed_at) = date_trunc('milliseconds', s.checked_at)
    limit 1) as run_id,
  (select h.held_id from sync.held h
    where $3::text is null and h.scope_key = p.key and (h.resolved_at is null or h.is_standing)
      and h.kind = case when $4::text is not null then 'group' when $2::text is not null then 'document' else 'organization' end
    limit 1) as held_id,
  (select f.run_id from sync.failures f
    where f.batch_key = p.batch_key and f.organization_id = $1 and f.resolved_at is null and f.document_id is not distinct from $2
      and f.annotation_id is not distinct from $3 and f.organization_user_group_id is not distinct from $4
    order by f.failure_id desc limit 1) as failing_run_id
from place p
cross join (
  select name, active, in_catalog, checked_at, failing_since, is_stale
  from collab.organizations where organization_id = $1 and $2::text is null and $4::text is null
  union all
  select name, active, in_catalog, checked_at, failing_since, is_stale
  from collab.user_groups where organization_id = $1 and organization_user_group_id = $4
  union all
  select name, active, in_catalog, checked_at, failing_since, is_stale
  from collab.documents where organization_id = $1 and document_id = $2 and $3::text is null
  union all
  select null, active, in_catalog, checked_at, failing_since, is_stale
  from collab.annotations where organization_id = $1 and document_id = $2 and annotation_id = $3
) s
cross join lateral (
  select count(*)::int as annotations, coalesce(sum(x.comment_count), 0)::int as comments,
    (count(*) filter (where x.active and x.failing_since is not null))::int as failing
  from collab_store.annotations x
  where x.document_key = p.document_key and (p.annotation_key is null or x.annotation_key = p.annotation_key)
) t
