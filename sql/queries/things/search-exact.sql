-- Objects with exactly this ID, except annotations and comments, at most 21 of each kind. IDs are unique in an organization, and
-- their indexes begin with its key. Each is therefore probed once for each organization, which reads no object that does not match.
-- Params: $1 id.
-- Never null: kind, ids.
with organizations as (
  select organization_key, organization_id, name from collab_store.organizations
)
(
  select 'organization' as kind, jsonb_build_object('organizationId', organization_id) as ids, name
  from organizations
  where organization_id = $1
)
union all
(
  select 'document', jsonb_build_object('organizationId', o.organization_id, 'documentId', d.document_id), d.name
  from organizations o
  cross join lateral (
    select document_id, name from collab_store.documents
    where organization_key = o.organization_key and document_id = $1
    offset 0
  ) d
  order by o.organization_id
  limit 21
)
union all
(
  select 'userGroup', jsonb_build_object('organizationId', o.organization_id, 'organizationUserGroupId', g.organization_user_group_id), g.name
  from organizations o
  cross join lateral (
    select organization_user_group_id, name from collab_store.user_groups
    where organization_key = o.organization_key and organization_user_group_id = $1
    offset 0
  ) g
  order by o.organization_id
  limit 21
)
union all
(
  select 'user', jsonb_build_object('organizationId', o.organization_id, 'userId', u.user_id), coalesce(u.name, u.email)
  from organizations o
  cross join lateral (
    select user_id, name, email from collab_store.users
    where organization_key = o.organization_key and user_id = $1
    offset 0
  ) u
  order by o.organization_id
  limit 21
)
