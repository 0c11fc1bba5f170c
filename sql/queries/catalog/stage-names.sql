-- The names that the lines give, one for each thing: that of the last line that has one. An empty text takes a name away.
-- Params: none.
create temp table import_names on commit drop as
select distinct on (n.kind, i.organization_id, n.id) n.kind, i.organization_id, n.id, nullif(n.name, '') as name
from import_lines i
cross join lateral (values ('organization', '', i.organization_name), ('document', i.document_id, i.document_name),
  ('user_group', i.organization_user_group_id, i.organization_user_group_name)) n (kind, id, name)
where n.name is not null
order by n.kind, i.organization_id, n.id, i.line desc;
-- The planner needs to know how many they are.
analyze import_names;
