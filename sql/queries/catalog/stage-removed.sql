-- Stages scopes to deactivate: the named ones and those beneath them.
-- Params: $1 organizationKey, $2 documentKey, $3 annotationKey, $4 userGroupKey (each a list of keys).
insert into import_lacking (kind, key)
select 'organization', organization_key from collab_store.organizations where organization_key = any($1)
union
select 'document', document_key from collab_store.documents where organization_key = any($1) or document_key = any($2)
union
select 'group', user_group_key
from collab_store.user_groups where organization_key = any($1) or user_group_key = any($4)
union
select 'annotation', a.annotation_key
from collab_store.annotations a
join collab_store.documents d using (document_key)
where d.organization_key = any($1) or d.document_key = any($2)
union
select 'annotation', key from unnest($3::integer[]) key
