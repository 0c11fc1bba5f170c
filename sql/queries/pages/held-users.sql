-- Users, or other records, of held removals: those missing from the response and those it contained; a limited number of each, with the
-- total count and the count from this page on.
-- Params: $1 heldIds, $2 limit (of each kind and listing), $3 afterMissing?, $4 afterStaying? (last IDs of the
-- previous page).
-- Never null: held_id, is_missing, user_id, in_all, from_here.
with held as (
  select h.held_id, h.operation, h.kind, h.scope_key, h.missing_user_ids, o.organization_key
  from sync.held h
  join collab_store.organizations o using (organization_id)
  where h.held_id = any($1::bigint[])
), present as (
  select h.held_id, case h.operation when 'users' then h.organization_key end as organization_key, l.record_id as user_id
  from held h
  cross join lateral (
    select r.record_id
    from collab_store.listed_records r
    where r.operation = h.operation and r.kind = h.kind and r.scope_key = h.scope_key
    offset 0 -- joined, every listing would be read
  ) l
), divided as (
  select p.held_id, p.organization_key, p.user_id, m.user_id is not null as is_missing,
    count(*) over (partition by p.held_id, m.user_id is not null)::int as in_all
  from present p
  left join (select held_id, unnest(missing_user_ids) as user_id from held) m using (held_id, user_id)
), placed as (
  select d.*, row_number() over (partition by d.held_id, d.is_missing order by d.user_id) as place,
    count(*) over (partition by d.held_id, d.is_missing)::int as from_here
  from divided d
  where d.user_id > coalesce(case when d.is_missing then $3::text else $4::text end, '')
)
select p.held_id, p.is_missing, p.user_id, u.name, p.in_all, p.from_here
from placed p
left join collab_store.users u using (organization_key, user_id)
where p.place <= $2
order by p.held_id, p.is_missing desc, p.place
