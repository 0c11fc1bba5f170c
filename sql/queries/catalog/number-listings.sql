-- Numbers the listings that each operation has of organizations, user groups and documents, in this order, after the
-- existing ones of their organization and operation.
-- Params: $1 operations, $2 kinds (one for each of the operations).
create temp table import_new_listings on commit drop as
select s.organization_key, w.operation, w.kind, s.scope_key, s.active,
  (coalesce(a.scopes, 0) - 1 + row_number() over (
    partition by s.organization_key, w.operation order by w.kind desc, s.scope_key
  ))::integer as number
from unnest($1::text[], $2::text[]) w (operation, kind)
join (
  select organization_key, 'organization' as kind, organization_key as scope_key, active
  from collab_store.organizations
  union all
  select g.organization_key, 'group', g.user_group_key, g.active
  from import_user_groups i
  join collab_store.user_groups g using (organization_key, organization_user_group_id)
  union all
  select d.organization_key, 'document', d.document_key, d.active
  from import_documents i
  join collab_store.documents d using (organization_key, document_id)
) s using (kind)
left join (
  select organization_key, operation, sum(assigned) as scopes from collab_store.batches group by 1, 2
) a using (organization_key, operation)
where not exists (
  select from collab_store.listings l
  where l.scope_key = s.scope_key and l.kind = w.kind and l.operation = w.operation
);
