-- About how many stored records have one of some fields, by the share of the records read that had them.
-- Params: $1 members (json): object, path.
-- Never null: object, records.
select r.object, ceil(s.records * least(1, sum(o.records) / r.records))::bigint as records
from collab_store.observed_records r
join collab_store.stored_records s using (object)
join collab_store.observed_members o using (object)
join jsonb_to_recordset($1) m (object text, path text[]) on m.object = o.object and m.path = o.path
where r.records > 0
group by r.object, r.records, s.records
order by r.object
