-- Marks what was noticed of members since somebody watches as told, and gives the first of it.
-- Params: $1 since (when somebody watches).
-- Never null: members, first[].
with told as (
  update sync.member_changes
  set told_at = now()
  where told_at is null and noticed_at >= $1
  returning number, object, collab_store.member_of(path) as member, change, types
)
select count(*)::int as members, max(number) as last_number,
  (array_agg(jsonb_build_object('object', object, 'member', member, 'change', change, 'types', types) order by number))[1:10] as first
from told
