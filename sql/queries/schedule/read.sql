-- The nightly schedule as a user set or removed it: when, and who.
-- Params: none.
-- Prepared.
select s.cron, s.time_zone, s.removed as is_removed, s.set_at, a.by
from sync.schedule s
left join sync.actions a on a.at = s.set_at and a.action in ('schedule_set', 'schedule_removed')
