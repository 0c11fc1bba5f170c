-- Numbers the listings of new organizations, user groups and documents, in this order, after the existing ones of their
-- organization.
-- Params: none.
create temp table import_new_listings on commit drop as
select s.organization_key, s.kind, s.scope_key,
  (o.users_scopes - 1 + row_number() over (
    partition by s.organization_key order by s.kind desc, s.scope_key
  ))::integer as number
from (
  select organization_key, 'organization' as kind, organization_key as scope_key
  from collab_store.organizations where users_scopes = 0
  union all
  select g.organization_key, 'group', g.user_group_key
  from import_user_groups i
  join collab_store.user_groups g using (organization_key, organization_user_group_id)
  union all
  select d.organization_key, 'document', d.document_key
  from import_documents i
  join collab_store.documents d using (organization_key, document_id)
) s
join collab_store.organizations o using (organization_key)
where not exists (
  select from collab_store.listings l where l.scope_key = s.scope_key and l.kind = s.kind and l.operation = 'users'
);
