-- Where a scope lies: its batch and its key; nothing where the catalog lacks it.
-- Params: $1 operation, $2 organizationId, $3 documentId?, $4 annotationId?, $5 organizationUserGroupId?.
-- Never null: batch_key, kind, key.
select a.batch_key, 'annotation' as kind, a.annotation_key as key
from collab_store.annotations a
join collab_store.documents d using (document_key)
join collab_store.organizations o on o.organization_key = d.organization_key
where $1 = 'comments' and o.organization_id = $2 and d.document_id = $3 and a.annotation_id = $4
union all
select d.batch_key, 'document', d.document_key
from collab_store.documents d
join collab_store.organizations o using (organization_key)
where $1 = 'users' and o.organization_id = $2 and d.document_id = $3
union all
select g.batch_key, 'group', g.user_group_key
from collab_store.user_groups g
join collab_store.organizations o using (organization_key)
where $1 = 'users' and o.organization_id = $2 and g.organization_user_group_id = $5
union all
select b.batch_key, 'organization', o.organization_key
from collab_store.organizations o
join collab_store.batches b on b.organization_key = o.organization_key and b.operation = 'users' and b.batch_no = 0
where $1 = 'users' and o.organization_id = $2 and $3::text is null and $5::text is null
