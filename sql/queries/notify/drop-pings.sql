-- Ends the pings to a heartbeat that are more than an hour late, and those of a night before the last one that ended.
-- Params: $1 receiver.
-- Prepared.
update sync.notification_deliveries d
set given_up_at = now()
from sync.notifications n
left join sync.runs r using (run_id)
where n.notification_id = d.notification_id and d.receiver = $1 and d.sent_at is null and d.given_up_at is null
  and (
    r.finished_at is null or r.finished_at < now() - interval '1 hour'
    or exists (select from sync.runs newer where newer.trigger = 'schedule' and newer.finished_at > r.finished_at)
  )
