-- Stores the number of scopes ever assigned in each organization that is new or got new scopes.
-- Params: none.
update collab_store.organizations o
set users_scopes = n.users_scopes, comments_scopes = n.comments_scopes
from (
  select x.organization_key,
    x.users_scopes + coalesce(u.scopes, 0) as users_scopes,
    x.comments_scopes + coalesce(c.scopes, 0) as comments_scopes
  from collab_store.organizations x
  left join (
    select organization_key, count(*)::integer as scopes
    from import_new_listings group by organization_key
  ) u using (organization_key)
  left join (
    select organization_key, count(*)::integer as scopes
    from import_new_annotations group by organization_key
  ) c using (organization_key)
) n
where o.organization_key = n.organization_key
  and (o.users_scopes, o.comments_scopes) is distinct from (n.users_scopes, n.comments_scopes);
