-- The catalog directly beneath a document, an organization or the root; user groups before documents. Ordered by ID, so
-- that each page is read from an index.
-- Params: $1 organizationId?, $2 documentId?, $3 afterUserGroupId?, $4 afterId? (highest id of the other things on the
-- previous page), $5 limit.
-- Never null: organization_id, active.
select organization_id, document_id, annotation_id, organization_user_group_id, o.name as organization_name, document_name,
  organization_user_group_name, l.active, l.checked_at
from (
  (
    select 1 as step, organization_id as id, organization_id, null::text as document_id, null::text as annotation_id,
      null::text as organization_user_group_id, null::text as document_name, null::text as organization_user_group_name, active,
      checked_at
    from collab.organizations
    where $1::text is null and ($4::text is null or organization_id > $4)
    order by organization_id
    limit $5
  ) union all (
    select 2, organization_user_group_id, organization_id, null, null, organization_user_group_id, null, name, active, checked_at
    from collab.user_groups
    where organization_id = $1 and $2::text is null and $4 is null and ($3::text is null or organization_user_group_id > $3)
    order by organization_user_group_id
    limit $5
  ) union all (
    select 3, document_id, organization_id, document_id, null, null, name, null, active, checked_at
    from collab.documents
    where organization_id = $1 and $2 is null and ($4 is null or document_id > $4)
    order by document_id
    limit $5
  ) union all (
    select 4, a.annotation_id, o.organization_id, d.document_id, a.annotation_id, null, d.name, null, a.active, a.checked_at
    from collab_store.checked_annotations a
    join collab_store.documents d using (document_key)
    join collab_store.organizations o using (organization_key)
    where o.organization_id = $1 and d.document_id = $2 and ($4 is null or a.annotation_id > $4)
    order by a.annotation_id
    limit $5
  )
) l
join collab_store.organizations o using (organization_id)
order by step, id
limit $5
