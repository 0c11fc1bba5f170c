-- The field changes of a message that are still stored, and the first ten of them.
-- Params: $1 numbers.
-- Never null: members, first, first[].
with left_of_it as (
  select number, object, collab_store.member_of(path) as member, change, types
  from sync.member_changes
  where number = any($1::bigint[])
)
select count(*)::int as members,
  coalesce((array_agg(jsonb_build_object('object', object, 'member', member, 'change', change, 'types', types) order by number))[1:10], '{}') as first
from left_of_it
