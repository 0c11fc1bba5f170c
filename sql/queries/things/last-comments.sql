-- The ten live comments that a user of an organization wrote last, newest first; those without a time come last. Only the
-- comments since the day of the tenth are read from the table.
-- Params: $1 organizationKey, $2 userId.
-- Never null: document_id, annotation_id, comment_id.
with since as (
  select case when count(day) = 10 then min(day) end as day
  from (
    select day
    from collab_store.comments_by($1, $2, null)
    where deleted_at is null
    order by day desc nulls last
    limit 10
  ) d
)
select d.document_id, a.annotation_id, c.comment_id, left(c.comment_text, 120) as text,
  collab_store.written_at(c.written_at, c.first_updated, c.last_updated) as written_at
from since s
cross join lateral collab_store.comments_by($1, $2, s.day) c
join collab_store.annotations a using (annotation_key)
join collab_store.documents d using (document_key)
where c.deleted_at is null
order by written_at desc nulls last, d.document_id, a.annotation_id, c.comment_id
limit 10
