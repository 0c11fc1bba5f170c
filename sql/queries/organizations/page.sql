-- A page of organizations in the order of their ids, with how fresh each is: from the batches, of which an organization of
-- 10,000 annotations has forty. A scope fails still where it failed since its batch was gone through last and was not stored
-- by itself after that. Both ends of the time are named, else the planner expects a third of all failures and compiles.
-- Params: $1 contains? (part of the id in any case), $2 after? (highest id of the page before), $3 limit.
-- Never null: scopes, annotations, comments, never_checked, failing, held.
select o.organization_id, o.active, b.scopes, b.annotations, b.comments, b.never_checked, b.oldest_check, b.newest_check,
  (
    select count(distinct (f.batch_key, f.scope_no))::int
    from sync.failures f
    join collab_store.batches c using (batch_key)
    where f.organization_id = o.organization_id and f.at between b.begun_at and now() and f.at >= coalesce(c.checked_at, '-infinity')
      and not exists (select from collab_store.annotations x
        where x.batch_key = f.batch_key and x.scope_no = f.scope_no and x.own_checked_at > f.at)
      and not exists (select from collab_store.documents x
        where x.batch_key = f.batch_key and x.scope_no = f.scope_no and x.own_checked_at > f.at)
      and not exists (select from collab_store.user_groups x
        where x.batch_key = f.batch_key and x.scope_no = f.scope_no and x.own_checked_at > f.at)
      and not exists (select from collab_store.organizations x
        where c.operation = 'users' and c.batch_no = 0 and f.scope_no = 0
          and x.organization_key = c.organization_key and x.own_checked_at > f.at)
  ) as failing,
  (
    select count(*)::int from sync.held h where h.organization_id = o.organization_id and h.resolved_at is null
  ) as held
from (
  select organization_key, organization_id, active
  from collab_store.organizations
  where ($1::text is null or strpos(lower(organization_id), lower($1)) > 0)
    and ($2::text is null or organization_id > $2)
  order by organization_id
  limit $3
) o
cross join lateral (
  select coalesce(sum(c.scopes), 0)::bigint as scopes,
    coalesce(sum(c.scopes) filter (where c.operation = 'comments'), 0)::bigint as annotations,
    coalesce(sum(c.comments), 0)::bigint as comments,
    coalesce(sum(c.scopes) filter (where c.checked_at is null), 0)::bigint as never_checked,
    min(c.checked_at) filter (where c.scopes > 0) as oldest_check,
    max(c.checked_at) filter (where c.scopes > 0) as newest_check,
    min(coalesce(c.checked_at, '-infinity')) as begun_at
  from collab_store.batches c
  where c.organization_key = o.organization_key
) b
order by o.organization_id
