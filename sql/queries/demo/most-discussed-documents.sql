-- The documents with the most live comments.
-- Params: none.
-- Never null: organization_id, document_id, comments, authors.
select organization_id, document_id, count(*)::int as comments, count(distinct author_user_id)::int as authors,
  max(last_updated) as last_updated
from reporting.comments
group by organization_id, document_id
order by count(*) desc, organization_id, document_id
limit 5
