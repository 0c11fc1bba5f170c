-- The last 30 days (REPORT_TZ), newest first: the number of runs requested on each, and the worst of them, and the
-- comments that they stored; comments by the day their authors wrote them (the service's clock); edits and deletions by
-- the day a check found them.
-- Params: none.
-- Never null: day, runs, stored, comments, edits, deletions.
-- Typed as: status sync.runs.status.
with days as (
  select day, begins_at, ends_at from reporting.days order by day desc limit 30
), written as (
  -- A range of comments_activity for each organization, without its other rows or the table. reporting.comment_activity_daily
  -- defines which comments count.
  select c.day, count(*)::int as comments
  from collab_store.organizations o
  cross join lateral (
    select c.day
    from collab_store.comments c
    where c.organization_key = o.organization_key and c.deleted_at is null and c.day >= (select min(day) from days)
    offset 0 -- a range of each organization, whatever the planner expects of the days
  ) c
  group by c.day
)
select to_char(d.day, 'YYYY-MM-DD') as day, r.runs, r.run_id, r.status, r.stored, coalesce(w.comments, 0) as comments,
  n.edits, n.deletions
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
cross join lateral (
  -- The changes of reporting.edits_and_deletions, by the two indexes of their times.
  select count(*) filter (where c.change = 'edited')::int as edits, count(*) filter (where c.change = 'deleted')::int as deletions
  from (
    select change from collab_store.comments where version > 1 and version_at >= d.begins_at and version_at < d.ends_at
    union all
    select change from collab_store.comment_versions where version > 1 and valid_from >= d.begins_at and valid_from < d.ends_at
  ) c
) n
left join written w using (day)
order by d.day desc
