-- For each operation, the scope with the most recent successful check, so that the service accepted key and token for
-- it; of listings, one of an organization if there is one. Scopes of organizations refused now come last, because the
-- refusal may concern only the organization, followed by scopes whose last check failed.
-- Params: $1 refused (organization keys).
-- Never null: operation, organization_id.
-- Typed as: operation collab_store.batches.operation.
(select distinct on (l.operation) l.operation, o.organization_id, d.document_id, null::text as annotation_id,
  g.organization_user_group_id
from collab_store.checked_listings l
join collab_store.organizations o using (organization_key)
left join collab_store.documents d on l.kind = 'document' and d.document_key = l.scope_key
left join collab_store.user_groups g on l.kind = 'group' and g.user_group_key = l.scope_key
where l.active and l.checked_at is not null
order by l.operation, l.kind <> 'organization', o.organization_key = any($1), l.failing_since is not null, l.checked_at desc)
union all
(select b.operation, o.organization_id, a.document_id, a.annotation_id, null
from collab_store.batches b
join collab_store.organizations o using (organization_key)
cross join lateral (
  select d.document_id, x.annotation_id
  from collab_store.annotations x
  join collab_store.documents d using (document_key)
  where x.batch_key = b.batch_key and x.active
    and collab_store.last_good_check(x.own_checked_at, b.checked_at) is not null
  order by x.failing_since is not null, collab_store.last_good_check(x.own_checked_at, b.checked_at) desc
  limit 1
) a
where b.operation = 'comments' and o.active
order by o.organization_key = any($1), b.checked_at desc nulls last
limit 1)
