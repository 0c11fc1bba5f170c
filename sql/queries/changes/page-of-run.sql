-- A page of what a run changed, newest first, with the bounds of changes/count-of-run. The rows of changes are chosen before their
-- arrays are read. Each has a line or more, so the newest limit + 1 fill the page: all lines of the first one may be on the page
-- before. Materialized, so that PostgreSQL does not search all newer changes by number.
-- Params: $1 runId, $2 objects, $3 change?, $4 beforeNumber? and $5 beforePlace? of the last one of the previous page, $6 limit.
-- Never null: number, place, object, change, at, organization_id.
with of_run as materialized (
  select c.number
  from sync.runs r
  join collab_store.changes c on c.run_id = r.run_id and c.object = any($2::text[])
    and c.at between r.started_at - interval '1 hour' and coalesce(r.finished_at, now()) + interval '1 hour'
  where r.run_id = $1 and ($3::text is null or c.change = $3) and ($4::bigint is null or c.number <= $4)
), page as (
  select c.number, n.place, c.object, c.change, c.at, n.key, n.comment_id, n.person
  from (select number from of_run order by number desc limit $6 + 1) newest
  join collab_store.changes c using (number)
  cross join lateral unnest(c.keys, c.comment_ids, c.persons) with ordinality n (key, comment_id, person, place)
  where $4 is null or (c.number, n.place) < ($4, $5::bigint)
  order by c.number desc, n.place desc
  limit $6
)
select p.number, p.place, p.object, p.change, p.at, s.organization_id, s.document_id, s.annotation_id, p.comment_id,
  s.organization_user_group_id, s.user_id, s.name
from page p
cross join lateral collab_store.subject_of_change(p.object, p.key, p.comment_id, p.person) s
order by p.number desc, p.place desc
