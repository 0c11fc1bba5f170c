-- Stages the user groups that the lines name.
-- Params: none.
create temp table import_user_groups on commit drop as
select distinct o.organization_key, i.organization_user_group_id
from import_lines i
join collab_store.organizations o using (organization_id)
where i.organization_user_group_id is not null;
-- The planner needs their number.
analyze import_user_groups;
