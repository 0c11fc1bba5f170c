-- What the catalog holds directly beneath a document, else beneath an organization, else its organizations; user groups
-- before documents. In the order of the ids, so that each page is read from an index.
-- Params: $1 organizationId?, $2 documentId?, $3 afterUserGroupId?, $4 afterId? (highest id of the page before, of whatever
-- else the page holds), $5 limit.
-- Never null: organization_id, active.
select organization_id, document_id, annotation_id, organization_user_group_id, organization_name, document_name,
  organization_user_group_name, active, checked_at
from (
  (
    select 1 as step, o.organization_id, null::text as document_id, null::text as annotation_id,
      null::text as organization_user_group_id, o.organization_id as id, o.active,
      collab_store.last_good_check(o.own_checked_at, b.checked_at) as checked_at,
      o.name as organization_name, null::text as document_name, null::text as organization_user_group_name
    from collab_store.organizations o
    join collab_store.batches b on b.organization_key = o.organization_key and b.operation = 'users' and b.batch_no = 0
    where $1::text is null and ($4::text is null or o.organization_id > $4)
    order by o.organization_id
    limit $5
  ) union all (
    select 2, o.organization_id, null, null, g.organization_user_group_id, g.organization_user_group_id, g.active,
      collab_store.last_good_check(g.own_checked_at, b.checked_at), o.name, null, g.name
    from collab_store.user_groups g
    join collab_store.organizations o using (organization_key)
    join collab_store.batches b using (batch_key)
    where o.organization_id = $1 and $2::text is null and $4 is null
      and ($3::text is null or g.organization_user_group_id > $3)
    order by g.organization_user_group_id
    limit $5
  ) union all (
    select 3, o.organization_id, d.document_id, null, null, d.document_id, d.active,
      collab_store.last_good_check(d.own_checked_at, b.checked_at), o.name, d.name, null
    from collab_store.documents d
    join collab_store.organizations o using (organization_key)
    join collab_store.batches b using (batch_key)
    where o.organization_id = $1 and $2 is null and ($4 is null or d.document_id > $4)
    order by d.document_id
    limit $5
  ) union all (
    select 4, o.organization_id, d.document_id, a.annotation_id, null, a.annotation_id, a.active,
      greatest(collab_store.last_good_check(a.own_checked_at, b.checked_at),
        (select w.swept_at from collab_store.swept_threads w where w.annotation_key = a.annotation_key)),
      o.name, d.name, null
    from collab_store.annotations a
    join collab_store.documents d using (document_key)
    join collab_store.organizations o using (organization_key)
    join collab_store.batches b on b.batch_key = a.batch_key
    where o.organization_id = $1 and d.document_id = $2 and ($4 is null or a.annotation_id > $4)
    order by a.annotation_id
    limit $5
  )
) listed
order by step, id
limit $5
