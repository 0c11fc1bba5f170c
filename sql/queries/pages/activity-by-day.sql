-- Comment changes of each of the last 30 days (REPORT_TZ): new comments by the day they were written (the service's
-- clock), edits and deletions by the day a check found them.
-- Params: none.
-- Never null: day, comments, edits, deletions.
with days as (
  select (now() at time zone report_time_zone)::date - back as day from collab_store.definitions, generate_series(0, 29) back
), since as (
  select min(day) as day from days
)
select to_char(day, 'YYYY-MM-DD') as day, coalesce(sum(comments), 0)::int as comments,
  coalesce(sum(edits), 0)::int as edits, coalesce(sum(deletions), 0)::int as deletions
from days
left join (
  select a.day, a.comments, 0 as edits, 0 as deletions
  from reporting.comment_activity_daily a
  where a.day between (select day from since) and (select max(day) from days)
  union all
  select (e.noticed_at at time zone d.report_time_zone)::date, 0, (e.change = 'edited')::int, (e.change = 'deleted')::int
  from reporting.edits_and_deletions e
  cross join collab_store.definitions d
  where e.noticed_at >= (select s.day::timestamp at time zone z.report_time_zone from since s, collab_store.definitions z)
) happened using (day)
group by day
order by day
