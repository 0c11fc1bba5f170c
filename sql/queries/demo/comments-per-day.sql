-- Comments per day of all organizations in the last days.
-- Params: none.
-- Never null: day, comments, authors, annotations.
select day::text as day, sum(comments)::int as comments, sum(authors)::int as authors, sum(annotations)::int as annotations
from reporting.comment_activity_daily
where day is not null
group by day
order by comment_activity_daily.day desc
limit 7
