-- The last 30 days (REPORT_TZ), newest first: the number of runs requested on each, and the worst of them, and the
-- comments that they stored; comments by the day their authors wrote them (the service's clock); edits and deletions by
-- the day a check found them.
-- Params: none.
-- Never null: day, runs, stored, comments, edits, deletions.
-- Typed as: status sync.runs.status.
with days as (
  select day, begins_at, ends_at from reporting.days order by day desc limit 30
), written as (
  select day, sum(comments)::int as comments
  from reporting.comment_activity_daily
  where day >= (select min(day) from days)
  group by day
), noticed as (
  select d.day, count(*) filter (where e.change = 'edited')::int as edits,
    count(*) filter (where e.change = 'deleted')::int as deletions
  from reporting.edits_and_deletions e
  join days d on e.noticed_at >= d.begins_at and e.noticed_at < d.ends_at
  where e.noticed_at >= (select min(begins_at) from days)
  group by d.day
)
select to_char(d.day, 'YYYY-MM-DD') as day, r.runs, r.run_id, r.status, r.stored, coalesce(w.comments, 0) as comments,
  coalesce(n.edits, 0) as edits, coalesce(n.deletions, 0) as deletions
from days d
cross join lateral (
  select count(*)::int as runs, coalesce(sum(comments_written), 0)::int as stored, (array_agg(run_id order by urgency))[1] as run_id,
    (array_agg(status order by urgency))[1] as status
  from sync.runs, lateral (
    select row(array_position('{failed,partial,running,queued,succeeded,cancelled}', status),
      now() - requested_at, run_id) as urgency
  ) u
  where requested_at >= d.begins_at and requested_at < d.ends_at
) r
left join written w using (day)
left join noticed n using (day)
order by d.day desc
