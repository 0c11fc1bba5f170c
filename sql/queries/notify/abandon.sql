-- Ends, after a day, deliveries to receivers that are no longer in NOTIFY_URL and that no worker claims.
-- Params: $1 receivers (current ones).
-- Prepared.
update sync.notification_deliveries d
set given_up_at = now(), problem = 'no longer in NOTIFY_URL'
from sync.notifications n
where n.notification_id = d.notification_id and d.sent_at is null and d.given_up_at is null
  and d.receiver <> all($1::text[]) and n.noted_at < now() - interval '1 day' and d.next_at < now() - interval '1 hour'
