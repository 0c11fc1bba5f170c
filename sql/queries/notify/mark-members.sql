-- Marks what was noticed of members since somebody watches as told, and gives its numbers. What the message says is read
-- when it is sent (notify/member-changes): the names of members may be ids, so they are kept in one place only.
-- Params: $1 since (when somebody watches).
-- Never null: numbers, numbers[].
with told as (
  update sync.member_changes
  set told_at = now()
  where told_at is null and noticed_at >= $1
  returning number
)
select coalesce(array_agg(number::int order by number), '{}') as numbers
from told
