-- One active scope of each operation that has one in the catalog; of listings, one of an organization if there is one.
-- Params: $1 operations.
-- Never null: operation, organization_id.
-- Typed as: operation collab_store.batches.operation.
select n.operation, o.organization_id, s.document_id, s.annotation_id, s.organization_user_group_id
from unnest($1::text[]) n (operation)
cross join lateral (
  (
    select l.batch_key, d.document_id, null as annotation_id, g.organization_user_group_id
    from (
      select * from collab_store.listings
      where operation = n.operation and active
      order by kind desc, scope_key desc
      limit 1
    ) l
    left join collab_store.documents d on l.kind = 'document' and d.document_key = l.scope_key
    left join collab_store.user_groups g on l.kind = 'group' and g.user_group_key = l.scope_key
  )
  union all
  (
    select b.batch_key, d.document_id, a.annotation_id, null
    from collab_store.batches b
    join collab_store.annotations a using (batch_key)
    join collab_store.documents d using (document_key)
    where b.operation = n.operation and a.active
    limit 1
  )
  limit 1
) s
join collab_store.batches using (batch_key)
join collab_store.organizations o using (organization_key)
