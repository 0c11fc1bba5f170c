-- One active scope of each operation that has one in the catalog; of listings, one of an organization if the batch has it.
-- Params: $1 operations.
-- Never null: operation, organization_id.
-- Typed as: operation collab_store.batches.operation.
select n.operation, s.organization_id, s.document_id, s.annotation_id, s.organization_user_group_id
from unnest($1::text[]) n (operation)
cross join lateral (
  select o.organization_id, c.document_id, c.annotation_id, c.organization_user_group_id
  from collab_store.batches b
  join collab_store.organizations o using (organization_key)
  cross join lateral (
    select * from (
      select d.document_id, null as annotation_id, g.organization_user_group_id, l.kind
      from collab_store.listings l
      left join collab_store.documents d on l.kind = 'document' and d.document_key = l.scope_key
      left join collab_store.user_groups g on l.kind = 'group' and g.user_group_key = l.scope_key
      where l.batch_key = b.batch_key and l.active
      union all
      select d.document_id, a.annotation_id, null, 'annotation'
      from collab_store.annotations a
      join collab_store.documents d using (document_key)
      where a.batch_key = b.batch_key and a.active
    ) s
    order by kind <> 'organization'
    limit 1
  ) c
  where b.operation = n.operation
  order by b.batch_no, b.batch_key
  limit 1
) s
