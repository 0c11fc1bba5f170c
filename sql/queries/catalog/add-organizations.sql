-- Adds organizations that a line names and the catalog lacks. add-users-batches creates their batch 0.
-- Params: none.
insert into collab_store.organizations (organization_id, name)
select i.organization_id, n.name
from (select distinct organization_id from import_lines) i
left join import_names n on n.kind = 'organization' and n.organization_id = i.organization_id
where not exists (
  select from collab_store.organizations o where o.organization_id = i.organization_id
)
order by i.organization_id collate "C";
