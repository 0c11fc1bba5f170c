-- Numbers new users scopes after the existing ones of their organization: user groups first, then documents. Number 0
-- is the organization's own listing.
-- Params: none.
create temp table import_new_users_scopes on commit drop as
select s.organization_key, s.kind, s.id,
  (greatest(o.users_scopes, 1) - 1 + row_number() over (
    partition by s.organization_key order by s.kind, s.id collate "C"
  ))::integer as number
from (
  select i.organization_key, 1 as kind, i.organization_user_group_id as id
  from import_user_groups i
  where not exists (
    select from collab_store.user_groups g
    where g.organization_key = i.organization_key
      and g.organization_user_group_id = i.organization_user_group_id
  )
  union all
  select i.organization_key, 2, i.document_id
  from import_documents i
  where not exists (
    select from collab_store.documents d
    where d.organization_key = i.organization_key and d.document_id = i.document_id
  )
) s
join collab_store.organizations o using (organization_key);
