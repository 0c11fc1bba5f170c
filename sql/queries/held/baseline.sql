-- Since when losses of listings count together, in the last seven days or since a removal was last applied, and records
-- whose removal is held or was refused because too many are missing.
-- Params: $1 operation, $2 kinds, $3 scopeKeys, $4 at.
-- Never null: kind, scope_key, since, disputed_ids, disputed_ids[].
with listing as (
  select k.kind, k.scope_key, greatest($4::timestamptz - interval '7 days', max(h.resolved_at)) as since
  from unnest($2::text[], $3::integer[]) as k (kind, scope_key)
  left join sync.held h on h.operation = $1 and h.kind = k.kind and h.scope_key = k.scope_key and h.resolution in ('accepted', 'repeated')
  group by k.kind, k.scope_key
), disputed as (
  select kind, scope_key, array_agg(m.id) as ids
  from listing
  join sync.held h using (kind, scope_key)
  cross join unnest(h.missing_user_ids) as m (id)
  where h.operation = $1 and h.is_loss and (h.resolved_at is null or h.is_standing)
  group by kind, scope_key
)
select kind, scope_key, since, coalesce(d.ids, '{}') as disputed_ids
from listing
left join disputed d using (kind, scope_key)
