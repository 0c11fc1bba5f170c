-- About how many stored records have one of some fields, by the share of the records read that had them.
-- Params: $1 members (json): object, path.
-- Never null: object, records.
select r.object, ceil(s.stored * least(1, sum(o.records) / r.records))::bigint as records
from collab_store.observed_records r
join collab_store.observed_members o using (object)
join jsonb_to_recordset($1) m (object text, path text[]) on m.object = o.object and m.path = o.path
cross join lateral (
  select case r.object
    when 'comment' then (select coalesce(sum(b.comments), 0) from collab_store.batches b)
    else (select count(*) from collab_store.users) end as stored
) s
where r.records > 0
group by r.object, r.records, s.stored
order by r.object
