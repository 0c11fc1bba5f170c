-- A page of open problems: one row per organization for problems of organizations.
-- Params: $1 kind?, $2 afterKind?, $3 afterOrganizationId? (of the last row of the previous page), $4 limit.
-- Never null: kind, urgency, count, sentence, fix, path.
select kind, urgency, organization_id, count, since, latest, sentence, fix, path, words
from sync.attention
where ($1::text is null or kind = $1)
  and ($2::text is null or (kind, coalesce(organization_id, '')) > ($2, coalesce($3::text, '')))
order by kind, coalesce(organization_id, '')
limit $4
