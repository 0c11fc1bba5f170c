-- One user of an organization: documents, user groups and comments of the user, the run that found that the user left, and the
-- removal that was accepted then.
-- Params: $1 organizationId, $2 userId.
-- Never null: listed, first_seen_at, changed_at, raw, documents, user_groups, comments, deleted_comments.
select u.name, u.email, u.raw, u.listed, u.first_seen_at, u.changed_at, u.removed_at, u.removal_held_since, u.removal_refused_at,
  m.documents, m.user_groups, c.comments, c.deleted_comments, h.resolution, h.decided_by, h.reason, e.erasure_id, e.erased_at,
  case when not u.listed then collab_store.run_of('user', o.organization_key, null, u.person, u.removed_at) end as left_run_id
from collab.users u
join collab_store.organizations o using (organization_id)
cross join lateral (
  select (count(*) filter (where kind = 'document'))::int as documents, (count(*) filter (where kind <> 'document'))::int as user_groups
  from reporting.memberships
  where organization_id = $1 and user_id = $2 and until is null
) m
cross join lateral (
  select (count(*) filter (where deleted_at is null))::int as comments,
    (count(*) filter (where deleted_at is not null))::int as deleted_comments
  from collab_store.comments_by(o.organization_key, $2, null)
) c
left join sync.held h on h.organization_id = $1 and h.operation = 'users' and h.kind = 'organization' and h.resolution in ('accepted', 'repeated')
  and date_trunc('milliseconds', h.resolved_at) = date_trunc('milliseconds', u.removed_at) and h.missing_user_ids @> array[$2]
left join sync.erasures e on e.pseudonym = $2 and (e.organization_id is null or e.organization_id = $1)
where u.organization_id = $1 and u.user_id = $2
limit 1
