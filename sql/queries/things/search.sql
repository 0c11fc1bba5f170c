-- Objects of one kind, except comments, by their complete ID, name or e-mail address, or by a part of at least three
-- characters in any case. Exact matches come first. At most 21 are returned, so that the caller knows whether there are
-- more than 20. Users are also found by names and addresses of earlier versions. No index is needed. The condition on
-- the kind leaves one part of the union, so that the caller can search one kind after the other until its time limit.
-- IDs are folded in the default collation, because in the collation of their columns only ASCII letters have a lower
-- case.
-- Params: $1 kind, $2 text, $3 emails (PRIVACY_EMAIL: hash finds whole addresses only, drop none), $4 emailHash?.
-- Never null: ids, is_exact.
with found as (
  select t.organization_key, t.document_key, t.id, max(t.name) as name,
    bool_or(coalesce(t.id = $2 or lower(t.name) = lower($2) or lower(t.email) = lower($2) or t.email = $4, false)) as is_exact
  from (
    select 'organization' as kind, organization_key, null::int as document_key, organization_id collate "default" as id,
      name, null as email
    from collab_store.organizations
    union all
    select 'document', organization_key, document_key, document_id collate "default", name, null from collab_store.documents
    union all
    select 'userGroup', organization_key, null, organization_user_group_id collate "default", name, null
    from collab_store.user_groups
    union all
    select 'annotation', null, document_key, annotation_id collate "default", null, null from collab_store.annotations
    union all
    select 'user', organization_key, null, user_id collate "default", name, case when $3 <> 'drop' then email end
    from collab_store.users
    union all
    select 'user', organization_key, null, user_id collate "default", name, case when $3 <> 'drop' then email end
    from collab_store.user_versions
  ) t
  where t.kind = $1
    and (
      -- One call of lower() per row; three calls take twice as long.
      strpos(lower(t.id || e'\n' || coalesce(t.name, '') || e'\n' || coalesce(case $3 when 'keep' then t.email end, '')), lower($2)) > 0
      or $3 = 'hash' and (lower(t.email) = lower($2) or t.email = $4)
    )
    and (char_length($2) >= 3 or t.id = $2 or lower(t.name) = lower($2) or lower(t.email) = lower($2))
  group by t.organization_key, t.document_key, t.id
  order by is_exact desc, t.id, t.organization_key, t.document_key
  limit 21
)
select jsonb_strip_nulls(jsonb_build_object('organizationId', o.organization_id, 'documentId', d.document_id,
    'annotationId', case $1 when 'annotation' then f.id end, 'organizationUserGroupId', case $1 when 'userGroup' then f.id end,
    'userId', case $1 when 'user' then f.id end)) as ids,
  case when $1 = 'user' then coalesce(u.name, u.email) else f.name end as name, f.is_exact
from found f
left join collab_store.documents d using (document_key)
join collab_store.organizations o on o.organization_key = coalesce(f.organization_key, d.organization_key)
left join collab_store.users u on $1 = 'user' and u.organization_key = f.organization_key and u.user_id = f.id
order by f.is_exact desc, f.id, o.organization_id, d.document_id
