-- A page of the children of an object: user groups and documents of an organization, annotations and users of a
-- document, users of a user group, comments of an annotation, and documents and user groups of a user, with the documents
-- that the user commented in. Failing scopes come first, those that left the catalog last; of a user, the documents with most
-- comments come first. The state of a document whose listings are not synced is that of its annotations.
-- Params: $1 organizationKey?, $2 documentKey?, $3 annotationKey?, $4 organizationId, $5 documentId?, $6 userGroupId?, $7 userId?,
-- $8 afterPlace?, $9 afterId?, $10 limit.
-- Never null: place, id, kind, state.
with wrote as (
  select d.document_id, max(d.name) as name, count(*)::int as comments
  from collab_store.organizations o
  cross join lateral collab_store.comments_by(o.organization_key, $7::text, null) c
  join collab_store.annotations a using (annotation_key)
  join collab_store.documents d using (document_key)
  where $7 is not null and o.organization_id = $4 and c.deleted_at is null
  group by 1
), members as (
  select kind, document_id, organization_user_group_id, user_id, name, coalesce(document_name, user_group_name) as place_name,
    removal_held_since, removal_refused_at, since
  from reporting.memberships
  where organization_id = $4 and until is null
    and (document_id = $5 and $2::int is not null or organization_user_group_id = $6 or user_id = $7)
), disputed as (
  select kind, scope_key, bool_or(is_held) as is_held, bool_or(is_refused) as is_refused
  from collab_store.disputed_listings
  where $1::int is not null and organization_id = $4
  group by 1, 2
), checks as (
  -- Of the listings of several operations that are synced, the worst counts.
  select kind, scope_key, case when bool_and(checked_at is not null) then min(checked_at) end as checked_at,
    min(failing_since) as failing_since, bool_or(is_stale) as is_stale
  from collab_store.checked_listings
  cross join collab_store.definitions
  where organization_key = $1 and operation = any(operations)
  group by 1, 2
), scopes as (
  select 'userGroup' as kind, 1 as step, g.organization_user_group_id as id, g.name, g.active, c.failing_since, c.checked_at, c.is_stale,
    c.kind is null as is_left_out,
    r.is_held, r.is_refused, null::int as comments
  from collab_store.user_groups g
  left join checks c on c.kind = 'group' and c.scope_key = g.user_group_key
  left join disputed r on r.kind = 'group' and r.scope_key = g.user_group_key
  where g.organization_key = $1
  union all
  select 'document', 2, d.document_id, d.name, d.active, coalesce(c.failing_since, f.since), c.checked_at, c.is_stale, c.kind is null,
    r.is_held, r.is_refused, null
  from collab_store.documents d
  left join checks c on c.kind = 'document' and c.scope_key = d.document_key
  left join disputed r on r.kind = 'document' and r.scope_key = d.document_key
  left join (
    select x.document_key, min(x.failing_since) as since
    from collab_store.batches b
    join collab_store.annotations x using (batch_key)
    where b.organization_key = $1 and b.operation = 'comments' and x.own_checked_at is not null and x.active
      and x.failing_since is not null
    group by 1
  ) f using (document_key)
  where d.organization_key = $1
  union all
  select 'annotation', 3, annotation_id, null, active, failing_since, checked_at, is_stale, 'comments' <> all(operations),
    null, null, comment_count
  from collab.annotations
  cross join collab_store.definitions
  where $2 is not null and organization_id = $4 and document_id = $5
)
select place, id, kind, name, case when state <> 'not_synced' or kind <> 'document' then state else (
    select case when count(*) = 0 then state when bool_or(x.checked_at is null) then 'never_checked'
      when bool_or(x.is_stale) then 'stale' else 'good' end
    from collab_store.documents o
    join collab_store.checked_annotations x using (document_key)
    cross join collab_store.definitions d
    where o.organization_key = $1 and o.document_id = beneath.id and x.active and 'comments' = any(d.operations)
  ) end as state, coalesce(comments, case when kind = 'document' and $1 is not null then (
    select coalesce(sum(x.comment_count), 0)::int
    from collab_store.documents d
    join collab_store.annotations x using (document_key)
    where d.organization_key = $1 and d.document_id = beneath.id
  ) end) as comments, checked_at, since, changed_at
from (
  select case when not active then 20 when failing_since is not null then 0 else 10 end + step as place, s.id, s.kind, s.name,
    case when not active then 'not_in_catalog' when failing_since is not null then 'failing' when s.is_held then 'removal_held'
      when s.is_left_out then 'not_synced'
      when checked_at is null then 'never_checked' when is_stale then 'stale' when s.is_refused then 'removal_refused' else 'good' end as state,
    comments, checked_at, null::timestamptz as since, null::timestamptz as changed_at
  from scopes s
  union all
  select case when $7 is null then 30 else 2147483647 - coalesce(w.comments, 0) end,
    coalesce(case when $7 is null then m.user_id end, m.organization_user_group_id, m.document_id, w.document_id),
    case when $7 is null then 'user' when m.organization_user_group_id is null then 'document' else 'userGroup' end,
    coalesce(case when $7 is null then m.name else m.place_name end, w.name),
    case when m.removal_held_since is not null then 'removal_held' when m.removal_refused_at is not null then 'removal_refused' else 'good' end,
    case when $7 is not null and m.organization_user_group_id is null then coalesce(w.comments, 0) end, null, m.since, null
  from members m
  full join wrote w on w.document_id = m.document_id
  union all
  select 10, lpad(comment_id::text, 20), 'comment', left(comment_text, 120),
    case when deleted_at is null then 'good' else 'deleted' end, null, null, null, changed_at
  from collab_store.comments
  where annotation_key = $3
) beneath
where $8::int is null or (place, id) > ($8, $9::text collate "C")
order by place, id collate "C"
limit $10
