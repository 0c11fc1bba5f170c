-- One organization, user group, document or annotation, and its check: a single row, whichever of them the ids name. Of the
-- listings of several operations, it is failing or stale if one of them is, and was checked when the one checked longest ago was.
-- The run of the check is the one whose claim of the batch began then, among the runs that were under way; the failing run, the
-- last one that failed to fetch it. That time passed through milliseconds.
-- Params: $1 organizationId, $2 documentId?, $3 annotationId?, $4 userGroupId?, $5 operation? (only its listing, for a record of it).
-- Never null: organization_key, key, active, in_catalog, is_stale, is_left_out, users, annotations, comments, failing, authors, is_erasing.
with place as (
  select o.organization_key, o.name as organization_name, d.name as document_name, n.kind, n.scope_key,
    coalesce(a.annotation_key, n.scope_key) as key, d.document_key, a.annotation_key, a.batch_key, l.record_count as users,
    case when a.annotation_key is null then coalesce(g.name, d.name, case n.kind when 'organization' then o.name end) end as name,
    coalesce(a.active, g.active, d.active, o.active) as active,
    o.active and coalesce(g.active, true) and coalesce(d.active, true) and coalesce(a.active, true) as in_catalog,
    a.first_comment_at, a.last_comment_at, a.first_answer_at, a.changed_at, coalesce(a.authors, '{}') as authors
  from collab_store.organizations o
  left join collab_store.user_groups g on g.organization_key = o.organization_key and g.organization_user_group_id = $4
  left join collab_store.documents d on d.organization_key = o.organization_key and d.document_id = $2
  left join collab_store.annotations a on a.document_key = d.document_key and a.annotation_id = $3
  cross join lateral (values (case when $4::text is not null then 'group' when $2::text is not null then 'document' else 'organization' end,
    case when $4 is not null then g.user_group_key when $2 is not null then d.document_key else o.organization_key end)) n (kind, scope_key)
  join collab_store.listings l on l.operation = 'users' and l.scope_key = n.scope_key and l.kind = n.kind
  where o.organization_id = $1 and ($3::text is null or a.annotation_key is not null)
), checks as (
  select l.operation, l.batch_key, l.checked_at, l.failing_since, l.is_stale
  from place
  join collab_store.checked_listings l using (kind, scope_key)
  where annotation_key is null and ($5::text is null or operation = $5)
  union all
  select 'comments', p.batch_key, x.checked_at, x.failing_since, x.is_stale
  from place p
  join collab_store.checked_annotations x using (annotation_key)
)
select p.organization_key, p.organization_name, p.document_name, p.key, p.name, p.active, p.in_catalog, c.checked_at, f.failing_since, f.is_stale, f.is_left_out, p.users,
  t.annotations, t.comments, t.failing, p.first_comment_at, p.last_comment_at, p.first_answer_at, p.changed_at, p.authors,
  exists (select from sync.erasures e
    where e.finished_at is null and (e.organization_id is null or e.organization_id = $1)) as is_erasing,
  (select i.run_id
    from sync.runs r
    join sync.run_items i using (run_id)
    where r.requested_at <= c.checked_at and r.requested_at > c.checked_at - interval '7 days'
      and coalesce(r.finished_at, 'infinity') >= c.checked_at and i.batch_key = c.batch_key
      and date_trunc('milliseconds', i.claimed_at) = date_trunc('milliseconds', c.checked_at)
    limit 1) as run_id,
  (select h.held_id from sync.held h
    where p.annotation_key is null and h.kind = p.kind and h.scope_key = p.scope_key and (h.resolved_at is null or h.is_standing) and ($5 is null or h.operation = $5)
    order by h.resolved_at is not null, h.held_id
    limit 1) as held_id,
  (select f.run_id from sync.failures f
    where f.batch_key in (select batch_key from checks) and f.organization_id = $1 and f.resolved_at is null
      and f.document_id is not distinct from $2 and f.annotation_id is not distinct from $3
      and f.organization_user_group_id is not distinct from $4
    order by f.failure_id desc limit 1) as failing_run_id
from place p
cross join (select checked_at, batch_key from checks order by checked_at nulls first limit 1) c
cross join (select min(failing_since) as failing_since, bool_or(is_stale) as is_stale, bool_and(operation <> all(operations)) as is_left_out
  from checks cross join collab_store.definitions) f
cross join lateral (
  select count(*)::int as annotations, coalesce(sum(x.comment_count), 0)::int as comments,
    (count(*) filter (where x.active and x.failing_since is not null))::int as failing
  from collab_store.annotations x
  where x.document_key = p.document_key and (p.annotation_key is null or x.annotation_key = p.annotation_key)
) t
