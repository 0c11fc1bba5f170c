-- What happened to comments in the last 30 days (UTC): comments by the day they were last updated, by the service's clock;
-- edits and deletions by the day a check noticed them, by ours. Days without any are left out.
-- Params: none.
-- Never null: day, comments, edits, deletions.
with since as (
  select (now() at time zone 'UTC')::date - 29 as day
)
select to_char(day, 'YYYY-MM-DD') as day, sum(comments)::int as comments, sum(edits)::int as edits,
  sum(deletions)::int as deletions
from (
  select a.day, a.comments, 0 as edits, 0 as deletions
  from reporting.comment_activity_daily a
  where a.day between (select day from since) and (now() at time zone 'UTC')::date
  union all
  select (e.noticed_at at time zone 'UTC')::date, 0, (e.change = 'edited')::int, (e.change = 'deleted')::int
  from reporting.edits_and_deletions e
  where e.noticed_at >= (select day from since)::timestamp at time zone 'UTC'
) happened
group by day
order by day
