-- Marks field changes since notifications began as reported, and returns their numbers. The message reads them when it
-- is sent (notify/member-changes): names of fields may be IDs, so they are stored only once.
-- Params: $1 since (when notifications began).
-- Never null: numbers, numbers[].
with marked as (
  update sync.member_changes
  set notified_at = now()
  where notified_at is null and noticed_at >= $1
  returning number
)
select coalesce(array_agg(number::int order by number), '{}') as numbers
from marked
