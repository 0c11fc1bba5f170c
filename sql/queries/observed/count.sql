-- Counts the fields of records that were read, and records which are new, of another type, or absent. Only fields with
-- is_new get a row, 2,000 at most.
-- Params: $1 objects, $2 records (read of each), $3 members (json): object, path, types, records, is_new.
with seen as (
  update collab_store.observed_records r
  set records = r.records + n.records
  from unnest($1::text[], $2::bigint[]) n (object, records)
  where r.object = n.object
  returning r.object, r.records as total, r.is_known, r.records - n.records as before
), found as (
  select m.*, s.total, s.before, s.is_known, k.number, k.types as known_types
  from jsonb_to_recordset($3) m (object text, path text[], types text[], records bigint, is_new boolean)
  join seen s using (object)
  left join (
    select distinct on (o.object, o.path) o.object, o.path, o.number, o.types
    from collab_store.observed_members o
    order by o.object, o.path, o.number
  ) k using (object, path)
), updated as (
  update collab_store.observed_members o
  set types = array(select distinct unnest(o.types || f.types) order by 1), records = o.records + f.records,
    last_seen_at = now(), last_record = f.total, is_absent = false
  from found f
  where o.number = f.number
), inserted as (
  insert into collab_store.observed_members (object, path, types, records, first_seen_at, last_seen_at, first_record, last_record)
  select f.object, f.path, f.types, f.records, now(), now(), f.before, f.total
  from found f
  where f.number is null and f.is_new
  order by f.records desc, f.path
  limit (select greatest(0, 2000 - count(*)) from collab_store.observed_members)
  returning object, path, types
), absent as (
  update collab_store.observed_members o
  set is_absent = true
  from seen s
  where o.object = s.object and not o.is_absent and s.total - o.last_record >= 1000
    and o.records >= 20 and o.records * 50 >= o.last_record - o.first_record
    and o.number not in (select f.number from found f where f.number is not null)
  returning o.object, o.path, o.types
)
insert into sync.member_changes (object, path, change, types)
-- Fields of a new object are not reported separately.
select i.object, i.path, 'new', i.types
from inserted i
join found f using (object, path)
where f.is_known and i.path[cardinality(i.path)] <> '*'
  and not exists (select from inserted p where (p.object, p.path) = (i.object, i.path[:cardinality(i.path) - 1]))
union all
select f.object, f.path, 'type', t.types
from found f
cross join lateral (select array(select t from unnest(f.types) t where t <> 'null' and t <> all(f.known_types) order by 1) as types) t
where f.is_known and f.number is not null and not f.known_types <@ '{"null"}' and cardinality(t.types) > 0
union all
select a.object, a.path, 'absent', a.types
from absent a
where not exists (select from absent p where (p.object, p.path) = (a.object, a.path[:cardinality(a.path) - 1]))
