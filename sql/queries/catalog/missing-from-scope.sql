-- The first object that a scope names and the catalog lacks.
-- Params: $1 organizationIds?, $2 documentId?, $3 annotationId?, $4 userGroupIds?.
-- Never null: what.
select * from (
  select 1 as step, 'Organization' as what, id
  from unnest($1::text[]) as id
  where not exists (select from collab_store.organizations o where o.organization_id = id)
  union all
  select 2, 'Document', $2::text
  where $2::text is not null and not exists (
    select from collab_store.documents d join collab_store.organizations o using (organization_key)
    where o.organization_id = any($1) and d.document_id = $2)
  union all
  select 3, 'Annotation', $3::text
  where $3::text is not null and not exists (
    select from collab_store.annotations a
    join collab_store.documents d using (document_key) join collab_store.organizations o using (organization_key)
    where o.organization_id = any($1) and d.document_id = $2 and a.annotation_id = $3)
  union all
  select 4, 'User group', id
  from unnest($4::text[]) as id
  where not exists (
    select from collab_store.user_groups g join collab_store.organizations o using (organization_key)
    where g.organization_user_group_id = id and ($1::text[] is null or o.organization_id = any($1)))
) missing
order by step, id
limit 1
