-- Adds the new scopes to the number of scopes ever assigned in each organization.
-- Params: none.
update collab_store.organizations o
set users_scopes = o.users_scopes + n.listings, comments_scopes = o.comments_scopes + n.annotations
from (
  select organization_key, count(scope_key)::integer as listings, count(document_key)::integer as annotations
  from (
    select organization_key, scope_key, null::integer as document_key from import_new_listings
    union all
    select organization_key, null, document_key from import_new_annotations
  ) s
  group by organization_key
) n
where o.organization_key = n.organization_key;
