-- Merges the keys of objects with too many keys into one path with * as the name, because they may be IDs.
-- Params: $1 crowded (json): object, path.
with crowded as (
  select object, path, cardinality(path) + 1 as at from jsonb_to_recordset($1) c (object text, path text[])
), forgotten as (
  delete from sync.member_changes n
  using crowded c
  where n.object = c.object and n.path[:c.at - 1] = c.path and n.path[c.at] not in ('[]', '*')
), removed as (
  delete from collab_store.observed_members o
  using crowded c
  where o.object = c.object and o.path[:c.at - 1] = c.path and o.path[c.at] not in ('[]', '*')
  returning o.*, c.path || '*'::text || o.path[c.at + 1:] as joined
)
insert into collab_store.observed_members (object, path, types, records, first_seen_at, last_seen_at, first_record, last_record)
select r.object, r.joined, array_agg(distinct t order by t), max(r.records), min(r.first_seen_at), max(r.last_seen_at),
  min(r.first_record), max(r.last_record)
from removed r
cross join unnest(r.types) t
where not exists (select from collab_store.observed_members o where o.object = r.object and o.path = r.joined)
group by r.object, r.joined
