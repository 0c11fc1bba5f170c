-- Adds user groups that a line names and the catalog lacks.
-- Params: none.
insert into collab_store.user_groups (organization_key, organization_user_group_id, name)
select i.organization_key, i.organization_user_group_id, n.name
from import_user_groups i
join collab_store.organizations o using (organization_key)
left join import_names n on n.kind = 'user_group' and n.organization_id = o.organization_id and n.id = i.organization_user_group_id
where not exists (
  select from collab_store.user_groups g
  where g.organization_key = i.organization_key and g.organization_user_group_id = i.organization_user_group_id
)
order by i.organization_key, i.organization_user_group_id collate "C";
