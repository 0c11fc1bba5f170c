-- Sets the writing time of comments: some from their own field, the others from the first remaining version. Unchanged
-- rows are not written. changed_at stays, because it is when the service last changed something.
-- Params: $1 fromAnnotation, $2 fromComment (not included), $3 toAnnotation, $4 toComment, $5 annotationKeys, $6 commentIds, $7
-- writtenAts[?].
-- Never null: annotation_key.
update collab_store.comments c
set written_at = d.written_at, first_updated = d.first_updated, day = d.day
from (
  select s.annotation_key, s.comment_id, w.written_at, f.first_updated,
    (collab_store.written_at(w.written_at, f.first_updated, s.last_updated) at time zone (select report_time_zone from collab_store.definitions))::date as day
  from collab_store.comments s
  left join unnest($5::int[], $6::bigint[], $7::timestamptz[]) as n (annotation_key, comment_id, written_at)
    on n.annotation_key = s.annotation_key and n.comment_id = s.comment_id
  cross join lateral (select case when n.comment_id is null then s.written_at else n.written_at end as written_at) w
  left join lateral (
    select coalesce(v.last_updated, '-infinity') as last_updated
    from collab_store.comment_versions v
    where s.version > 1 and s.first_updated is null and v.annotation_key = s.annotation_key and v.comment_id = s.comment_id
    order by v.version
    limit 1
  ) v on true
  cross join lateral (
    select coalesce(s.first_updated, nullif(v.last_updated, coalesce(s.last_updated, '-infinity'))) as first_updated
  ) f
  where s.annotation_key between $1 and $3
    and (s.annotation_key, s.comment_id) > ($1, $2) and (s.annotation_key, s.comment_id) <= ($3, $4)
) d
where c.annotation_key between $1 and $3 and c.annotation_key = d.annotation_key and c.comment_id = d.comment_id
  and (c.written_at, c.first_updated, c.day) is distinct from (d.written_at, d.first_updated, d.day)
returning c.annotation_key
