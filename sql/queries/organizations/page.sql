-- A page of organizations in the order of their IDs with their freshness, from the totals of all scopes: an
-- organization with 10,000 annotations has forty batches.
-- Params: $1 after? (highest id of the previous page), $2 limit, $3 organizationId? (only this one).
-- Never null: organization_id, active, scopes, annotations, comments, never_checked, failing, stale, overdue, held, refused.
with organizations as (
  select organization_key, organization_id, name, active
  from collab_store.organizations
  where ($1::text is null or organization_id > $1) and ($3::text is null or organization_id = $3)
  order by organization_id
  limit $2
), checks as (
  select c.organization_key, sum(c.scopes)::bigint as scopes,
    sum(c.scopes) filter (where c.operation = 'comments')::bigint as annotations,
    sum(c.scopes) filter (where c.checked_at is null)::bigint as never_checked,
    sum(c.scopes) filter (where c.failing_since is not null)::bigint as failing,
    sum(c.scopes) filter (where c.is_stale)::bigint as stale,
    sum(c.scopes) filter (where c.is_overdue)::bigint as overdue,
    min(c.checked_at) as oldest_check, max(c.checked_at) as newest_check
  from organizations o
  join collab_store.checks c using (organization_key)
  group by c.organization_key
)
select o.organization_id, o.name, o.active, coalesce(c.scopes, 0) as scopes, coalesce(c.annotations, 0) as annotations, b.comments,
  coalesce(c.never_checked, 0) as never_checked, coalesce(c.failing, 0) as failing, coalesce(c.stale, 0) as stale,
  coalesce(c.overdue, 0) as overdue, c.oldest_check, c.newest_check,
  (select count(*)::int from sync.open_holds h where h.organization_id = o.organization_id) as held,
  (select count(*)::int from sync.held h where h.organization_id = o.organization_id and h.is_standing) as refused
from organizations o
left join checks c using (organization_key)
cross join lateral (
  select coalesce(sum(b.comments), 0)::bigint as comments
  from collab_store.batches b
  where b.organization_key = o.organization_key
) b
order by o.organization_id
