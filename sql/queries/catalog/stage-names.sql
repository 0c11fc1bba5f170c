-- Stages the names in the lines, one per object: that of the last line with a name. An empty text removes the name.
-- Params: none.
create temp table import_names on commit drop as
select l.kind, l.organization_id, l.id, nullif(case l.kind when 'organization' then i.organization_name
  when 'document' then i.document_name else i.organization_user_group_name end, '') as name
from (
  select 'organization' as kind, organization_id, '' as id, max(line) as line
  from import_lines where organization_name is not null group by 2
  union all
  select 'document', organization_id, document_id, max(line)
  from import_lines where document_name is not null group by 2, 3
  union all
  select 'user_group', organization_id, organization_user_group_id, max(line)
  from import_lines where organization_user_group_name is not null group by 2, 3
) l
join import_lines i using (line);
-- The planner needs their number.
analyze import_names;
