-- Among some comments in the order of their keys, those that have or may get a writing time from their own field, with
-- its value and the values of the earlier fields. A longer value is not a time.
-- Params: $1 fromAnnotation, $2 fromComment (not included), $3 toAnnotation, $4 toComment, $5 path?, $6 membersBefore.
-- Never null: values_before, values_before[].
select annotation_key, comment_id, written_at, case when length(m.value::text) < 10000 then m.value::text end as value,
  array(select (rest #> string_to_array(b, '.'))::text from unnest($6::text[]) b
    where length((rest #> string_to_array(b, '.'))::text) < 10000) as values_before
from collab_store.comments
cross join lateral (select rest #> $5::text[] as value) m
where annotation_key between $1 and $3 and (annotation_key, comment_id) > ($1, $2) and (annotation_key, comment_id) <= ($3, $4)
  and (written_at is not null or m.value is not null)
