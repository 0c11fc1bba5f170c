-- Marks field changes since notifications began as reported, and creates one notification with their numbers. The
-- message reads them when it is sent (notify/member-changes): names of fields may be IDs, so they are stored only once.
-- Params: $1 since (when notifications began).
-- Prepared.
with marked as (
  update sync.member_changes
  set notified_at = now()
  where notified_at is null and noticed_at >= $1
  returning number
)
insert into sync.notifications (thing, kind, facts)
select 'members:' || max(number), 'members.changed', jsonb_build_object(
  'kind', 'members.changed', 'at', to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
  'numbers', array_agg(number order by number))
from marked
having count(*) > 0
